#include "sandbox/git_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deputy {
namespace {

constexpr char kName[] = ".git";
constexpr int kMostTries = 16;

// What is locked may have been removed by who held it before.
bool is_still_there(int folder, int place) {
  struct stat held{};
  struct stat found{};
  return ::fstat(place, &held) == 0 && ::fstatat(folder, kName, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

}  // namespace

std::optional<GitPlace> GitPlace::keep_free(int folder) {
  OwnedFd own(::openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int tries = 0; own && tries < kMostTries; ++tries) {
    (void)::mkdirat(own.get(), kName, 0700);
    OwnedFd place(::openat(own.get(), kName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!place || ::faccessat(place.get(), "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0) return std::nullopt;
    if (::flock(place.get(), LOCK_SH) != 0) return std::nullopt;
    if (is_still_there(own.get(), place.get())) return GitPlace(std::move(own), std::move(place));
  }
  return std::nullopt;
}

GitPlace::~GitPlace() {
  if (!place_ || ::flock(place_.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (is_still_there(folder_.get(), place_.get())) ::unlinkat(folder_.get(), kName, AT_REMOVEDIR);
}

}  // namespace deputy
