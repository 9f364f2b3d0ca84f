#include "sandbox/free_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deputy {
namespace {

constexpr int kMostTries = 16;

OwnedFd open_place(int folder, const char* name) {
  return OwnedFd(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// What is locked may have been removed by who held it before.
bool is_still_there(int folder, const char* name, int place) {
  struct stat held{};
  struct stat found{};
  return ::fstat(place, &held) == 0 && ::fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

// The kernel removes only an empty one.
void remove_if_unheld(int folder, const char* name, int place) {
  if (::flock(place, LOCK_EX | LOCK_NB) != 0) return;
  if (is_still_there(folder, name, place)) ::unlinkat(folder, name, AT_REMOVEDIR);
}

}  // namespace

std::optional<FreePlace> FreePlace::hold(int folder, const char* name) {
  OwnedFd own(::openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int tries = 0; own && tries < kMostTries; ++tries) {
    (void)::mkdirat(own.get(), name, 0700);
    OwnedFd place = open_place(own.get(), name);
    if (!place || ::flock(place.get(), LOCK_SH) != 0) return std::nullopt;
    if (is_still_there(own.get(), name, place.get()))
      return FreePlace(std::move(own), name, std::move(place));
  }
  return std::nullopt;
}

void FreePlace::clear(int folder, const char* name) {
  if (const OwnedFd place = open_place(folder, name)) remove_if_unheld(folder, name, place.get());
}

FreePlace::~FreePlace() {
  if (place_) remove_if_unheld(folder_.get(), name_, place_.get());
}

}  // namespace deputy
