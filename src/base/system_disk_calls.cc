#include "base/system_disk_calls.h"

#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace deputy {

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  const int reason = errno;  // callers read it after the descriptor of a failed attempt is gone
  ::close(number_);
  errno = reason;
}

Descriptor open_beneath(int folder, const std::string& name, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // The kernel gives up with EAGAIN when something was renamed while it resolved ".."; an endless race is an
  // attack.
  for (int attempt = 0; attempt < 64; ++attempt) {
    const long opened = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
    if (opened >= 0) return Descriptor(static_cast<int>(opened));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return Descriptor();
}

FileStatus status_of(const struct stat& found) {
  FileStatus status;
  if (S_ISREG(found.st_mode)) {
    status.kind = EntryKind::file;
    status.size = static_cast<std::uint64_t>(found.st_size);
  } else if (S_ISDIR(found.st_mode)) {
    status.kind = EntryKind::folder;
  } else {
    status.kind = S_ISLNK(found.st_mode) ? EntryKind::link : EntryKind::other;
  }
  status.modified = WallTime{std::chrono::seconds{found.st_mtim.tv_sec} +
                             std::chrono::microseconds{found.st_mtim.tv_nsec / 1000}};
  status.mode = found.st_mode & 07777;
  return status;
}

std::unexpected<Error> failed(std::string_view verb, std::string_view path) {
  const int number = errno;
  if (number == ENOSYS) {
    return fail(ErrorCode::unavailable, fmt::format("cannot {} {}: this kernel has no openat2", verb, path),
                "Linux 5.6 or later is needed");
  }
  return std::unexpected(error_from_errno(number, fmt::format("{} {}", verb, path)));
}

std::unexpected<Error> not_a_file(EntryKind kind, std::string_view verb, std::string_view path) {
  const std::string_view what = kind == EntryKind::folder ? "a folder"
                                : kind == EntryKind::link ? "a link"
                                                          : "not a regular file (a pipe, socket or device)";
  const std::string_view advice =
      kind == EntryKind::link ? "name the file that it leads to" : "name a regular file";
  return fail(ErrorCode::invalid, fmt::format("cannot {} {}: it is {}", verb, path, what),
              std::string(advice));
}

bool write_all(int file, std::string_view bytes, std::size_t& written) {
  for (written = 0; written < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0) errno = EIO;
      return false;
    }
    written += static_cast<std::size_t>(count);
  }
  return true;
}

bool sync_folder(int folder) {
  // Some file systems cannot sync a folder and say EINVAL; there is nothing more to be done there.
  return ::fsync(folder) == 0 || errno == EINVAL;
}

}  // namespace deputy
