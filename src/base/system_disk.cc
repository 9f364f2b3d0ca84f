#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <limits>

#include "base/disk.h"
#include "base/disk_names.h"
#include "base/random.h"
#include "base/system_disk_calls.h"
#include "base/text.h"

namespace deputy {
namespace {

class SystemFolder final : public Folder {
 public:
  SystemFolder(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {
    // Processes that run here print the path without links; such names must be understood too.
    char resolved[PATH_MAX];
    const ssize_t size =
        ::readlink(fmt::format("/proc/self/fd/{}", descriptor_.get()).c_str(), resolved, sizeof resolved);
    if (size > 0 && static_cast<std::size_t>(size) < sizeof resolved) {
      resolved_path_.assign(resolved, static_cast<std::size_t>(size));
    }
  }

  const std::string& path() const override { return path_; }
  int descriptor() const override { return descriptor_.get(); }

  Result<std::unique_ptr<Folder>> open_folder(std::string_view name) const override;
  Result<FileStatus> status(std::string_view name) const override;
  Result<std::vector<Entry>> list(std::string_view name) const override;
  Result<std::string> read(std::string_view name, std::uint64_t offset, std::size_t max) const override;
  Result<void> make_folder(std::string_view name) const override;
  Result<void> append_to(std::string_view name, std::string_view bytes) const override;
  Result<void> replace(std::string_view name, std::string_view bytes) const override;
  Result<void> rename(std::string_view from, std::string_view to) const override;
  Result<void> remove(std::string_view name) const override;

 private:
  // Where something is made, changed or removed: an opened folder and a name in it that is not resolved any
  // further.
  struct Place {
    Descriptor parent;
    std::string leaf;
    std::string shown;
  };

  Result<std::string> beneath(std::string_view name) const;
  Result<Descriptor> open_it(const std::string& name, int flags, std::string_view verb) const;
  Result<Place> place_of(std::string_view name, int parent_flags) const;
  static Result<mode_t> mode_for_writing(const Place& place);
  std::string shown(std::string_view name) const { return join_path(path_, name); }

  Descriptor descriptor_;
  std::string path_;
  std::string resolved_path_;
};

Result<std::string> SystemFolder::beneath(std::string_view name) const {
  Result<std::string> relative = name_beneath(path_, name);
  if (relative || resolved_path_.empty()) return relative;
  Result<std::string> to_resolved = name_beneath(resolved_path_, name);
  return to_resolved ? to_resolved : relative;
}

Result<Descriptor> SystemFolder::open_it(const std::string& name, int flags, std::string_view verb) const {
  Descriptor opened = open_beneath(descriptor_.get(), name, flags);
  if (opened) return opened;
  if (errno == EXDEV || errno == ELOOP) return std::unexpected(outside_folder(shown(name), path_));
  if (errno == ENXIO) return not_a_file(EntryKind::other, verb, shown(name));
  if (errno == EAGAIN) {
    return fail(ErrorCode::busy, fmt::format("cannot {} {}: its folders keep moving", verb, shown(name)),
                "try again");
  }
  return failed(verb, shown(name));
}

Result<SystemFolder::Place> SystemFolder::place_of(std::string_view name, int parent_flags) const {
  TRY(const std::string clean, beneath(name));
  SplitName parts = split_name(clean);
  TRY(check_leaf(parts, shown(clean)));
  TRY(Descriptor parent, open_it(parts.parent, parent_flags, "open the folder"));
  return Place{std::move(parent), std::move(parts.leaf), shown(clean)};
}

Result<std::unique_ptr<Folder>> SystemFolder::open_folder(std::string_view name) const {
  TRY(const std::string clean, beneath(name));
  TRY(Descriptor opened, open_it(clean, kFolder, "open the folder"));
  return std::make_unique<SystemFolder>(std::move(opened), shown(clean));
}

Result<FileStatus> SystemFolder::status(std::string_view name) const {
  TRY(const std::string clean, beneath(name));
  TRY(const Descriptor opened, open_it(clean, O_PATH, "look at"));
  struct stat found{};
  if (::fstat(opened.get(), &found) != 0) return failed("look at", shown(clean));
  return status_of(found);
}

Result<std::vector<Entry>> SystemFolder::list(std::string_view name) const {
  TRY(const std::string clean, beneath(name));
  TRY(Descriptor opened, open_it(clean, kReadableFolder, "list"));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened.get()), ::closedir);
  if (!stream) return failed("list", shown(clean));
  const int folder = opened.release();
  std::vector<Entry> entries;
  for (errno = 0; const dirent* next = ::readdir(stream.get()); errno = 0) {
    const std::string_view found_name = next->d_name;
    if (found_name == "." || found_name == "..") continue;
    struct stat found{};
    if (::fstatat(folder, next->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // removed meanwhile
      return failed("list", shown(join_path(clean, found_name)));
    }
    entries.push_back({std::string(found_name), status_of(found)});
  }
  if (errno != 0) return failed("list", shown(clean));
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

Result<std::string> SystemFolder::read(std::string_view name, std::uint64_t offset, std::size_t max) const {
  TRY(const std::string clean, beneath(name));
  TRY(const Descriptor file, open_it(clean, O_RDONLY | kNeverWait, "read"));
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return failed("read", shown(clean));
  if (!S_ISREG(found.st_mode)) return not_a_file(status_of(found).kind, "read", shown(clean));
  constexpr std::uint64_t kFarthest = std::numeric_limits<off_t>::max();
  const std::size_t most = offset < kFarthest ? std::min<std::uint64_t>(max, kFarthest - offset) : 0;
  // Files in /proc say they are empty, so the size is a guess and only the end of the file is believed.
  const auto size = static_cast<std::uint64_t>(found.st_size);
  const std::size_t chunk = std::clamp<std::uint64_t>(size > offset ? size - offset + 1 : 0, 4096, 1 << 20);
  std::string bytes;
  while (bytes.size() < most) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(chunk, most - before));
    const ssize_t count = ::pread(file.get(), bytes.data() + before, bytes.size() - before,
                                  static_cast<off_t>(offset + before));
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", shown(clean));
    if (count == 0) break;
  }
  return bytes;
}

Result<void> SystemFolder::make_folder(std::string_view name) const {
  TRY(const std::string clean, beneath(name));
  Result<Descriptor> opened = open_it(clean, kFolder, "make the folder");
  if (opened) return {};
  if (opened.error().code != ErrorCode::not_found) return std::unexpected(std::move(opened).error());
  const SplitName parts = split_name(clean);
  TRY(check_leaf(parts, shown(clean)));
  TRY(make_folder(parts.parent));
  TRY(const Descriptor parent, open_it(parts.parent, kFolder, "make the folder"));
  if (::mkdirat(parent.get(), parts.leaf.c_str(), kNewFolder) == 0) return {};
  if (errno != EEXIST) return failed("make the folder", shown(clean));
  // Made by somebody else meanwhile, or a link that leads nowhere.
  TRY(open_it(clean, kFolder, "make the folder"));
  return {};
}

// The mode of the file there, or that of a new one. A link is refused, not followed: to write through it
// could change a file that was never named, and to replace it would lose it.
Result<mode_t> SystemFolder::mode_for_writing(const Place& place) {
  struct stat found{};
  if (::fstatat(place.parent.get(), place.leaf.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return kNewFile;
    return failed("write", place.shown);
  }
  if (!S_ISREG(found.st_mode)) return not_a_file(status_of(found).kind, "write", place.shown);
  return found.st_mode & 0777;
}

Result<void> SystemFolder::append_to(std::string_view name, std::string_view bytes) const {
  TRY(const Place place, place_of(name, kFolder));
  TRY(mode_for_writing(place));
  const Descriptor file = open_beneath(place.parent.get(), place.leaf,
                                       O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | kNeverWait, kNewFile);
  if (!file) return failed("write", place.shown);
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return failed("write", place.shown);
  if (!S_ISREG(found.st_mode)) return not_a_file(status_of(found).kind, "write", place.shown);
  if (found.st_nlink > 1) {
    return fail(ErrorCode::denied,
                fmt::format("cannot add to {}: it has a second name elsewhere", place.shown),
                "replace it by a copy of its own");
  }
  std::size_t written = 0;
  if (write_all(file.get(), bytes, written)) return {};
  const std::string attempted =
      written == 0 ? "write" : fmt::format("write more than {} of {} bytes to", written, bytes.size());
  return failed(attempted, place.shown);
}

Result<void> SystemFolder::replace(std::string_view name, std::string_view bytes) const {
  TRY(const Place place, place_of(name, kReadableFolder));
  TRY(const mode_t mode, mode_for_writing(place));
  SystemRandom random;
  const std::string temporary = fmt::format(".deputy-{:016x}.tmp", random.next());
  const int parent = place.parent.get();
  const Descriptor file(
      ::openat(parent, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFile));
  if (!file) return failed("write", place.shown);
  std::size_t written = 0;
  const bool is_in_place = (mode == kNewFile || ::fchmod(file.get(), mode) == 0) &&
                           write_all(file.get(), bytes, written) && ::fsync(file.get()) == 0 &&
                           ::renameat(parent, temporary.c_str(), parent, place.leaf.c_str()) == 0;
  if (!is_in_place) {
    auto error = failed("write", place.shown);
    ::unlinkat(parent, temporary.c_str(), 0);
    return error;
  }
  if (!sync_folder(parent)) return failed("sync the folder of", place.shown);
  return {};
}

Result<void> SystemFolder::rename(std::string_view from, std::string_view to) const {
  TRY(const Place old_place, place_of(from, kFolder));
  TRY(const Place new_place, place_of(to, kFolder));
  if (::renameat(old_place.parent.get(), old_place.leaf.c_str(), new_place.parent.get(),
                 new_place.leaf.c_str()) != 0) {
    return failed("rename", fmt::format("{} to {}", old_place.shown, new_place.shown));
  }
  return {};
}

Result<void> SystemFolder::remove(std::string_view name) const {
  TRY(const Place place, place_of(name, kFolder));
  if (::unlinkat(place.parent.get(), place.leaf.c_str(), 0) == 0) return {};
  if (errno == EISDIR && ::unlinkat(place.parent.get(), place.leaf.c_str(), AT_REMOVEDIR) == 0) return {};
  return failed("remove", place.shown);
}

// Opens `path`, making what is missing on the way. Links are followed: this is where a person said to go.
Descriptor open_making(const std::string& path) {
  Descriptor folder(::open("/", kFolder));
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || !folder) continue;
    const std::string name(part);
    Descriptor next(::openat(folder.get(), name.c_str(), kFolder));
    if (!next && errno == ENOENT &&
        (::mkdirat(folder.get(), name.c_str(), kNewFolder) == 0 || errno == EEXIST)) {
      next = Descriptor(::openat(folder.get(), name.c_str(), kFolder));
    }
    folder = std::move(next);
  }
  return folder;
}

}  // namespace

Result<std::unique_ptr<Folder>> SystemDisk::open(std::string_view absolute_path, IfAbsent if_absent) const {
  TRY(check_absolute(absolute_path));
  std::string path = clean_path(absolute_path);
  Descriptor folder(::open(path.c_str(), kFolder));
  if (!folder && errno == ENOENT && if_absent == IfAbsent::create) folder = open_making(path);
  if (!folder) return failed("open the folder", path);
  return std::make_unique<SystemFolder>(std::move(folder), std::move(path));
}

Result<FileStatus> SystemDisk::status(std::string_view absolute_path) const {
  TRY(check_absolute(absolute_path));
  const std::string path(absolute_path);
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return failed("look at", path);
  return status_of(found);
}

std::string SystemDisk::current_folder() const {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) != nullptr ? path : "";
}

}  // namespace deputy
