#include "sandbox/folder_hold.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace deputy {

std::optional<FolderHold> FolderHold::take(const Folder& folder, int how) {
  if (folder.descriptor() < 0) return std::nullopt;
  OwnedFd own(::openat(folder.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own || ::flock(own.get(), how) != 0) return std::nullopt;
  return FolderHold(std::move(own), folder.path());
}

std::optional<FolderHold> FolderHold::shared(const Folder& folder) { return take(folder, LOCK_SH); }

std::optional<FolderHold> FolderHold::alone(const Folder& folder) { return take(folder, LOCK_EX | LOCK_NB); }

Result<std::optional<FolderHold>> FolderHold::alone_at_once(const Folder& folder) {
  errno = 0;
  auto held = alone(folder);
  if (!held && errno == EWOULDBLOCK)
    return fail(ErrorCode::busy, "another process holds " + folder.path(), "wait until it has ended");
  return held;
}

bool FolderHold::is_in_place() const {
  struct stat held{};
  struct stat found{};
  return ::fstat(marked_.get(), &held) == 0 && ::lstat(path_.c_str(), &found) == 0 &&
         held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

}  // namespace deputy
