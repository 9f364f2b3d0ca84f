#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/disk.h"
#include "base/disk_names.h"
#include "base/system_disk_calls.h"
#include "base/system_disk_place.h"
#include "base/text.h"

namespace deputy {
namespace {

class SystemFolder final : public Folder {
 public:
  SystemFolder(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {
    // Processes that run here print the path without links; such names must be understood too.
    resolved_path_ = path_of(descriptor_.get(), path_).value_or("");
    is_local_ = is_local(descriptor_.get());
  }

  const std::string& path() const override { return path_; }
  int descriptor() const override { return descriptor_.get(); }

  Result<std::unique_ptr<Folder>> open_folder(std::string_view name) const override;
  Result<std::unique_ptr<Place>> look_up(std::string_view name) const override;
  std::unique_ptr<Place> look_up_at_once(std::string_view name) const override;
  Result<FileStatus> status(std::string_view name) const override;
  Result<std::vector<Entry>> list(std::string_view name) const override;
  Result<std::string> read(std::string_view name, std::uint64_t offset, std::size_t max) const override;
  Result<void> make_folder(std::string_view name) const override;
  Result<void> append_to(std::string_view name, std::string_view bytes, Durable durable) const override;
  Result<void> replace(std::string_view name, std::string_view bytes, Durable durable) const override;
  Result<void> rename(std::string_view from, std::string_view to) const override;
  Result<void> remove(std::string_view name) const override;

 private:
  // Where something is made, changed or removed: an opened folder and a name in it that is not resolved any
  // further.
  struct Spot {
    Descriptor parent;
    std::string leaf;
    std::string shown;
  };

  Result<std::string> beneath(std::string_view name) const;
  Result<Descriptor> open_it(const std::string& name, int flags, std::string_view verb) const;
  Result<Spot> place_of(std::string_view name, int parent_flags) const;
  static Result<mode_t> mode_for_writing(const Spot& place);
  std::string shown(std::string_view name) const { return join_path(path_, name); }

  Descriptor descriptor_;
  std::string path_;
  std::string resolved_path_;
  bool is_local_ = false;
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
  return not_opened(verb, shown(name), path_);
}

Result<SystemFolder::Spot> SystemFolder::place_of(std::string_view name, int parent_flags) const {
  TRY(const std::string clean, beneath(name));
  SplitName parts = split_name(clean);
  TRY(check_leaf(parts, shown(clean)));
  TRY(Descriptor parent, open_it(parts.parent, parent_flags, "open the folder"));
  return Spot{std::move(parent), std::move(parts.leaf), shown(clean)};
}

Result<std::unique_ptr<Folder>> SystemFolder::open_folder(std::string_view name) const {
  TRY(const std::string clean, beneath(name));
  TRY(Descriptor opened, open_it(clean, kFolder, "open the folder"));
  return std::make_unique<SystemFolder>(std::move(opened), shown(clean));
}

Result<std::unique_ptr<Place>> SystemFolder::look_up(std::string_view name) const {
  TRY(const std::string clean, beneath(name));
  return place_beneath(descriptor_.get(), path_, clean);
}

std::unique_ptr<Place> SystemFolder::look_up_at_once(std::string_view name) const {
  const auto clean = beneath(name);
  return clean && is_local_ ? place_beneath_at_once(descriptor_.get(), path_, *clean) : nullptr;
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
  return list_entries(std::move(opened), shown(clean));
}

Result<std::string> SystemFolder::read(std::string_view name, std::uint64_t offset, std::size_t max) const {
  TRY(const std::string clean, beneath(name));
  TRY(const Descriptor file, open_it(clean, O_RDONLY | kNeverWait, "read"));
  return read_bytes(file.get(), offset, max, shown(clean));
}

// What is made durable in a folder is lost without its name. A parent that may not be read cannot be synced.
// Leaves the reason in errno when it fails.
bool sync_names_in(const Descriptor& parent) {
  const Descriptor readable = open_beneath(parent.get(), ".", kReadableFolder);
  return readable ? sync_folder(readable.get()) : errno == EACCES;
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
  if (::mkdirat(parent.get(), parts.leaf.c_str(), kNewFolder) == 0) {
    if (!sync_names_in(parent)) return failed("sync the folder of", shown(clean));
    return {};
  }
  if (errno != EEXIST) return failed("make the folder", shown(clean));
  // Made by somebody else meanwhile, or a link that leads nowhere.
  TRY(open_it(clean, kFolder, "make the folder"));
  return {};
}

// The mode of the file there, or that of a new one. A link is refused, not followed: to write through it
// could change a file that was never named, and to replace it would lose it.
Result<mode_t> SystemFolder::mode_for_writing(const Spot& place) {
  struct stat found{};
  if (::fstatat(place.parent.get(), place.leaf.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return kNewFile;
    return failed("write", place.shown);
  }
  if (!S_ISREG(found.st_mode)) return not_a_file(status_of(found).kind, "write", place.shown);
  return found.st_mode & 0777;
}

Result<void> SystemFolder::append_to(std::string_view name, std::string_view bytes, Durable durable) const {
  TRY(const Spot place, place_of(name, kFolder));
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
  if (write_all(file.get(), bytes, written)) {
    if (durable == Durable::no) return {};
    if (::fsync(file.get()) != 0) return failed("sync", place.shown);
    if (!sync_names_in(place.parent)) return failed("sync the folder of", place.shown);
    return {};
  }
  const std::string attempted =
      written == 0 ? "write" : fmt::format("write more than {} of {} bytes to", written, bytes.size());
  return failed(attempted, place.shown);
}

Result<void> SystemFolder::replace(std::string_view name, std::string_view bytes, Durable durable) const {
  TRY(const Spot place, place_of(name, kReadableFolder));
  TRY(const mode_t mode, mode_for_writing(place));
  const NewFile file{.bytes = bytes, .mode = mode, .keeps_mode = mode != kNewFile, .durable = durable};
  return put_in_place(place.parent.get(), place.leaf, file, IfThere::replace, place.shown);
}

Result<void> SystemFolder::rename(std::string_view from, std::string_view to) const {
  TRY(const Spot old_place, place_of(from, kFolder));
  TRY(const Spot new_place, place_of(to, kFolder));
  if (::renameat(old_place.parent.get(), old_place.leaf.c_str(), new_place.parent.get(),
                 new_place.leaf.c_str()) != 0) {
    return failed("rename", fmt::format("{} to {}", old_place.shown, new_place.shown));
  }
  if (!sync_names_in(new_place.parent)) return failed("sync the folder of", new_place.shown);
  return {};
}

Result<void> SystemFolder::remove(std::string_view name) const {
  TRY(const Spot place, place_of(name, kFolder));
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
      if (next && !sync_names_in(folder)) return Descriptor();
    }
    folder = std::move(next);
  }
  return folder;
}

}  // namespace

std::unique_ptr<Folder> folder_on(Descriptor descriptor, std::string path) {
  return std::make_unique<SystemFolder>(std::move(descriptor), std::move(path));
}

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
