#include "sandbox/free_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace deputy {
namespace {

constexpr int kMostTries = 1000;  // at once: who removes it has it locked for less

OwnedFd open_place(int folder, const char* name) {
  return OwnedFd(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Where something else is in its place, or nothing may be put there, there is nothing to hold. Any other
// reason would leave the place open to the command.
Result<std::optional<FreePlace>> unheld(int why, const char* name) {
  switch (why) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EACCES:
    case EBADF:  // a simulated folder, at which the start is refused
      return std::nullopt;
    default:
      return std::unexpected(error_from_errno(why, fmt::format("hold the place of {}", name)));
  }
}

// What is locked may have been removed by who held it before.
bool is_still_there(int folder, const char* name, int place) {
  struct stat held{};
  struct stat found{};
  return ::fstat(place, &held) == 0 && ::fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

bool may_be_empty(int place) {
  std::error_code unknown;
  return std::filesystem::is_empty(fmt::format("/proc/self/fd/{}", place), unknown) || unknown;
}

// The kernel removes only an empty one.
void remove_if_unheld(int folder, const char* name, int place) {
  if (::flock(place, LOCK_EX | LOCK_NB) != 0) return;
  if (is_still_there(folder, name, place)) ::unlinkat(folder, name, AT_REMOVEDIR);
}

}  // namespace

Result<std::optional<FreePlace>> FreePlace::hold(int folder, const char* name) {
  OwnedFd own(::openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!own) return unheld(errno, name);
  for (int tries = 0; tries < kMostTries; ++tries) {
    (void)::mkdirat(own.get(), name, 0700);
    OwnedFd place = open_place(own.get(), name);
    if (!place) return unheld(errno, name);
    // Never waits: a command may hold it as long as it likes.
    if (::flock(place.get(), LOCK_SH | LOCK_NB) == 0) {
      if (is_still_there(own.get(), name, place.get()))
        return FreePlace(std::move(own), name, std::move(place));
      continue;
    }
    if (errno != EWOULDBLOCK || !may_be_empty(place.get())) return std::nullopt;
  }
  // Whoever holds it could let it go while a command runs, which then could put something there.
  return fail(ErrorCode::busy,
              fmt::format("the empty folder {} cannot be kept as it is: another process has locked it", name),
              "wait for the command that has (flock), or end it, and try again");
}

void FreePlace::clear(int folder, const char* name) {
  if (const OwnedFd place = open_place(folder, name)) remove_if_unheld(folder, name, place.get());
}

FreePlace::~FreePlace() {
  if (place_) remove_if_unheld(folder_.get(), name_, place_.get());
}

}  // namespace deputy
