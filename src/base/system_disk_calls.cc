#include "base/system_disk_calls.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <limits>
#include <memory>

#include "base/disk_names.h"
#include "base/random.h"

namespace deputy {

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  const int reason = errno;  // callers read it after the descriptor of a failed attempt is gone
  ::close(number_);
  errno = reason;
}

Descriptor open_beneath(int folder, const std::string& name, int flags, mode_t mode, Links links) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  // The kernel gives up with EAGAIN when something was renamed while it resolved ".."; an endless race is an
  // attack.
  for (int attempt = 0; attempt < 64; ++attempt) {
    const long opened = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
    if (opened >= 0) return Descriptor(static_cast<int>(opened));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return Descriptor();
}

Descriptor open_to_write_or_read(int folder, const std::string& name, int flags, mode_t mode) {
  Descriptor file = open_beneath(folder, name, O_RDWR | flags, mode);
  if (file || (errno != EROFS && errno != EACCES)) return file;
  const int refused = errno;
  file = open_beneath(folder, name, O_RDONLY | (flags & ~O_CREAT));
  if (!file) errno = refused;
  return file;
}

Descriptor open_at_once(int folder, const std::string& name) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV | RESOLVE_CACHED;
  return Descriptor(static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how)));
}

bool is_local(int folder) {
  struct statfs found{};
  if (::fstatfs(folder, &found) != 0) return false;
  constexpr std::array<std::uint32_t, 5> kLocal{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                                F2FS_SUPER_MAGIC, TMPFS_MAGIC};
  return std::ranges::find(kLocal, static_cast<std::uint32_t>(found.f_type)) != kLocal.end();
}

static WallTime wall_time_of(const timespec& time) {
  return WallTime{std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_nsec / 1000}};
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
  status.modified = wall_time_of(found.st_mtim);
  status.changed = wall_time_of(found.st_ctim);
  status.mode = found.st_mode & 07777;
  status.names = S_ISDIR(found.st_mode) ? 1 : found.st_nlink;
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

std::unexpected<Error> not_opened(std::string_view verb, std::string_view path, std::string_view folder) {
  if (errno == EXDEV || errno == ELOOP) return std::unexpected(outside_folder(path, folder));
  if (errno == ENXIO) return not_a_file(EntryKind::other, verb, path);
  if (errno == EAGAIN) {
    return fail(ErrorCode::busy, fmt::format("cannot {} {}: its folders keep moving", verb, path),
                "try again");
  }
  return failed(verb, path);
}

Result<std::string> read_bytes(int file, std::uint64_t offset, std::size_t max, std::string_view shown) {
  struct stat found{};
  if (::fstat(file, &found) != 0) return failed("read", shown);
  if (!S_ISREG(found.st_mode)) return not_a_file(status_of(found).kind, "read", shown);
  constexpr std::uint64_t kFarthest = std::numeric_limits<off_t>::max();
  const std::size_t most = offset < kFarthest ? std::min<std::uint64_t>(max, kFarthest - offset) : 0;
  // Files in /proc say they are empty, so the size is a guess and only the end of the file is believed.
  const auto size = static_cast<std::uint64_t>(found.st_size);
  constexpr std::uint64_t kPiece = 4096;  // there is room for one behind the end, where it is looked for
  std::string bytes;
  while (bytes.size() < most) {
    const std::size_t before = bytes.size();
    const std::uint64_t at = offset + before;
    const std::size_t chunk =
        std::clamp<std::uint64_t>(size > at ? size - at + kPiece : 0, kPiece, std::uint64_t{1} << 20);
    bytes.resize(before + std::min(chunk, most - before));
    const ssize_t count = ::pread(file, bytes.data() + before, bytes.size() - before, static_cast<off_t>(at));
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", shown);
    if (count == 0) break;
  }
  return bytes;
}

std::optional<std::string> read_at_once(int file, std::size_t size) {
  std::string bytes(size + 1, '\0');  // one behind the end, where it is looked for
  std::size_t got = 0;
  while (got < bytes.size()) {
    const iovec rest{bytes.data() + got, bytes.size() - got};
    const ssize_t count = ::preadv2(file, &rest, 1, static_cast<off_t>(got), RWF_NOWAIT);
    if (count < 0) return std::nullopt;
    if (count == 0) {
      bytes.resize(got);
      return bytes;
    }
    got += static_cast<std::size_t>(count);
  }
  return std::nullopt;  // it has grown meanwhile
}

Result<std::vector<Entry>> list_entries(Descriptor opened, const std::string& shown) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened.get()), ::closedir);
  if (!stream) return failed("list", shown);
  const int folder = opened.release();
  std::vector<Entry> entries;
  for (errno = 0; const dirent* next = ::readdir(stream.get()); errno = 0) {
    const std::string_view found_name = next->d_name;
    if (found_name == "." || found_name == "..") continue;
    struct stat found{};
    if (::fstatat(folder, next->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // removed meanwhile
      return failed("list", join_path(shown, found_name));
    }
    entries.push_back({std::string(found_name), status_of(found)});
  }
  if (errno != 0) return failed("list", shown);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

Result<std::string> path_of(int descriptor, std::string_view shown) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", descriptor).c_str(), path, sizeof path);
  if (size < 0) return failed("look at", shown);
  if (static_cast<std::size_t>(size) == sizeof path) {
    errno = ENAMETOOLONG;
    return failed("look at", shown);
  }
  return std::string(path, static_cast<std::size_t>(size));
}

Result<void> put_in_place(int parent, const std::string& leaf, const NewFile& file, IfThere if_there,
                          const std::string& shown) {
  SystemRandom random;
  const std::string temporary = fmt::format(".deputy-{:016x}.tmp", random.next());
  const Descriptor opened(
      ::openat(parent, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file.mode));
  if (!opened) return failed("write", shown);
  const unsigned flags = if_there == IfThere::fail ? RENAME_NOREPLACE : 0;
  // Only root may give files away; others keep what they made.
  const bool is_owned = file.like == nullptr ||
                        ::fchown(opened.get(), file.like->st_uid, file.like->st_gid) == 0 || errno == EPERM;
  std::size_t written = 0;
  const bool is_in_place = is_owned && (!file.keeps_mode || ::fchmod(opened.get(), file.mode) == 0) &&
                           write_all(opened.get(), file.bytes, written) &&
                           (file.durable == Durable::no || ::fsync(opened.get()) == 0) &&
                           ::renameat2(parent, temporary.c_str(), parent, leaf.c_str(), flags) == 0;
  if (!is_in_place) {
    auto error = failed("write", shown);
    ::unlinkat(parent, temporary.c_str(), 0);
    return error;
  }
  if (file.durable == Durable::yes && !sync_folder(parent)) return failed("sync the folder of", shown);
  return {};
}

}  // namespace deputy
