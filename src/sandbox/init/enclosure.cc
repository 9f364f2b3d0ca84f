#include "sandbox/init/enclosure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/init/programs.h"

namespace deputy::init {
namespace {

// The system's headers may be years older than its kernel.
constexpr unsigned kClone = 1;                 // OPEN_TREE_CLONE
constexpr unsigned kWithMountsBelow = 0x8000;  // AT_RECURSIVE
constexpr unsigned kFromDescriptor = 4;        // MOVE_MOUNT_F_EMPTY_PATH

constexpr const char* kFolder = "folder";  // what the one that it starts in is called there
// Where the new root is put together: it hides what nobody needs any more.
constexpr const char* kSite = "/proc";

bool put(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto size = static_cast<ssize_t>(strlen(text));
  const bool is_put = write(file, text, static_cast<size_t>(size)) == size;
  close(file);
  return is_put;
}

// Whoever is not root may mount something only where it is root. It stays who it is, there as well.
bool enter_namespaces() {
  const unsigned user = geteuid();
  const unsigned group = getegid();
  char users[64];
  char groups[64];
  snprintf(users, sizeof users, "%u %u 1", user, user);
  snprintf(groups, sizeof groups, "%u %u 1", group, group);
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
         put("/proc/self/uid_map", users) && put("/proc/self/gid_map", groups);
}

// A second mount of what is there, with all that is mounted below it.
int mount_again(const char* path) {
  return static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, path, kClone | kWithMountsBelow | O_CLOEXEC));
}

bool move_to(int mount, const char* path) {
  const bool is_moved = syscall(SYS_move_mount, mount, "", AT_FDCWD, path, kFromDescriptor) == 0;
  close(mount);
  return is_moved;
}

// At the same place beneath the current directory; what is not there is not there.
bool show(const char* path) {
  struct stat status{};
  if (lstat(path, &status) != 0) return errno == ENOENT;
  const char* const below = path + 1;
  if (S_ISLNK(status.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path, target, sizeof target - 1);
    if (size < 0) return false;
    target[size] = '\0';
    return symlink(target, below) == 0;
  }
  const int made = S_ISDIR(status.st_mode) ? mkdir(below, 0755) : mknod(below, S_IFREG | 0644, 0);
  const int mount = made == 0 ? mount_again(path) : -1;
  return mount >= 0 && move_to(mount, below);
}

// In what is mounted at the site. Afterwards it is the root, and the folder the current directory.
bool build(int folder) {
  if (chdir(kSite) != 0 || mkdir(kFolder, 0755) != 0 || !move_to(folder, kFolder)) return false;
  if (mkdir("etc", 0755) != 0 || !show(kLibraryIndex)) return false;
  if (mkdir("dev", 0755) != 0 || !show("/dev/null")) return false;
  for (const char* path : kPrograms)
    if (!show(path)) return false;
  // The old root ends up on top of the new one, and is taken away.
  return syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir(kFolder) == 0;
}

// Whether it is the one that the program starts in.
bool is_start(const Grant& grant, const Options& options) {
  struct stat granted{};
  struct stat start{};
  return fstat(grant.descriptor, &granted) == 0 && fstat(options.start, &start) == 0 &&
         granted.st_dev == start.st_dev && granted.st_ino == start.st_ino;
}

bool reads_one_folder(const Options& options) {
  return options.grant_count == 1 && !options.grants[0].writable && !options.network && !options.isolated &&
         is_start(options.grants[0], options);
}

}  // namespace

bool enclose(const Options& options) {
  if (!options.enclose || !reads_one_folder(options) || !enter_namespaces()) return false;
  // `start` stands in the mount namespace that was left: from there nobody could tell where he is.
  const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int folder = mount_again(".");
  if (here < 0 || folder < 0 || mount("tmpfs", kSite, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") != 0)
    return false;
  if (build(folder)) return true;
  umount2(kSite, MNT_DETACH);
  (void)!fchdir(here);
  return false;
}

}  // namespace deputy::init
