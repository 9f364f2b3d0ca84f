#include "sandbox/init/enclosure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
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

// Where the new root is put together: it hides what nobody needs any more.
constexpr const char* kSite = "/proc";
// What programs look at when they start, and where ripgrep learns whose home this is: what its person has git
// ignore counts where that lies in the folder.
constexpr const char* kSettings[] = {kLibraryIndex, "/etc/nsswitch.conf", "/etc/passwd"};

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

// A second mount of what is there, with all that is mounted below it, but not what others mount over it
// later.
int mount_again(const char* path) {
  const auto mount =
      static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, path, kClone | kWithMountsBelow | O_CLOEXEC));
  struct {
    unsigned long long set, clear, propagation, userns;
  } alone = {0, 0, MS_PRIVATE, 0};
  return syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &alone, sizeof alone) == 0 ? mount : -1;
}

bool move_to(int mount, const char* path) {
  const bool is_moved = syscall(SYS_move_mount, mount, "", AT_FDCWD, path, kFromDescriptor) == 0;
  close(mount);
  return is_moved;
}

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// From here on the site is the current directory.

// /bin to usr/bin, and on some systems /home to var/home, by which a link may name what it leads to.
bool copy_links_of_root() {
  DIR* const root = opendir("/");
  if (!root) return false;
  bool is_copied = true;
  while (const dirent* entry = readdir(root)) {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(dirfd(root), entry->d_name, target, sizeof target - 1);
    if (size < 0) continue;  // it is no link
    target[size] = '\0';
    is_copied = is_copied && symlink(target, entry->d_name) == 0;
  }
  closedir(root);
  return is_copied;
}

// At the same place. What is not there is not there, and a link is one already.
bool show(const char* path) {
  struct stat status{};
  if (stat(path, &status) != 0) return errno == ENOENT;
  const char* const below = path + 1;
  const int made = S_ISDIR(status.st_mode) ? mkdir(below, 0755) : mknod(below, S_IFREG | 0644, 0);
  return made == 0 ? move_to(mount_again(path), below) : errno == EEXIST;
}

// Once the site is the root.
bool leads_to(const char* path, const struct stat& wanted) {
  const open_how how{.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_IN_ROOT};
  const auto found = static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
  if (found < 0) return false;
  struct stat status{};
  const bool is_wanted = fstat(found, &status) == 0 && is_same(status, wanted);
  close(found);
  return is_wanted;
}

// To where it leads now.
bool still_leads(const char* path) {
  struct stat status{};
  return stat(path, &status) == 0 ? leads_to(path, status) : errno == ENOENT;
}

// At its own path, whose first folder must be none that something else is shown in. What others have mounted
// over it came along, and was never granted.
bool place(int folder, char* path, const Options& options) {
  for (char* end = path; (end = strchr(end + 1, '/')) != nullptr; *end = '/') {
    *end = '\0';
    if (mkdir(path + 1, 0755) != 0) return false;
  }
  struct stat start{};
  return mkdir(path + 1, 0755) == 0 && move_to(folder, path + 1) && fstat(options.start, &start) == 0 &&
         leads_to(path, start);
}

bool build(int folder, char* path, const Options& options) {
  if (chdir(kSite) != 0 || !copy_links_of_root()) return false;
  if (mkdir("etc", 0755) != 0 || mkdir("dev", 0755) != 0 || !show("/dev/null")) return false;
  for (const char* setting : kSettings)
    if (!show(setting)) return false;
  for (const char* programs : kPrograms)
    if (!show(programs) || !still_leads(programs)) return false;
  return place(folder, path, options) && still_leads(options.argv[0]);
}

// The old root ends up on top of the new one, and is taken away.
bool move_in(const char* path) {
  return syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir(path) == 0;
}

// Whether it is the one that the program starts in.
bool is_start(const Grant& grant, const Options& options) {
  struct stat granted{};
  struct stat start{};
  return fstat(grant.descriptor, &granted) == 0 && fstat(options.start, &start) == 0 &&
         is_same(granted, start);
}

bool reads_one_folder(const Options& options) {
  return options.grant_count == 1 && !options.grants[0].writable && !options.network && !options.isolated &&
         is_start(options.grants[0], options);
}

}  // namespace

bool enclose(const Options& options) {
  char path[PATH_MAX];
  if (!options.enclose || !reads_one_folder(options) || !getcwd(path, sizeof path) || !enter_namespaces())
    return false;
  // `start` stands in the mount namespace that was left: from there nobody could tell where he is.
  const int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int folder = mount_again(".");
  // Root may not enter everybody's folder any more: who could not come back does not leave.
  if (root < 0 || here < 0 || folder < 0 || fchdir(here) != 0) return false;
  if (mount("tmpfs", kSite, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") != 0) return false;
  if (build(folder, path, options) && move_in(path)) return true;
  umount2(kSite, MNT_DETACH);
  (void)!(fchdir(root) == 0 && chroot(".") == 0);
  (void)!fchdir(here);
  return false;
}

}  // namespace deputy::init
