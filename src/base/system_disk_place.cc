#include "base/system_disk_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <mutex>
#include <vector>

#include "base/disk_names.h"
#include "base/system_disk_calls.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr mode_t kNewFileHere = 0666;  // less what the umask takes
constexpr mode_t kNewFolderHere = 0777;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// Two sessions of this process that change one file must not both find it unchanged.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

// The name of what `descriptor` stands for beneath `root`, as both are called at this moment.
Result<std::string> name_now(int root, int descriptor, const std::string& shown,
                             const std::string& root_path) {
  TRY(const std::string above, path_of(root, root_path));
  TRY(const std::string path, path_of(descriptor, shown));
  if (path == above) return ".";
  const std::string prefix = above == "/" ? above : above + '/';
  if (!path.starts_with(prefix)) return std::unexpected(outside_folder(shown, root_path));
  return path.substr(prefix.size());
}

class SystemPlace final : public Place {
 public:
  struct Found {
    Descriptor root;
    std::string root_path;
    Descriptor nearest = Descriptor();  // what was found, or the lowest folder above it that is there
    std::string name;
    std::vector<std::string> missing;  // names below `nearest`
    std::optional<FileStatus> status;
    bool is_at_hand = false;  // it was had at once, so opening it waits for nobody either
  };
  explicit SystemPlace(Found found) : found_(std::move(found)) {}

  const std::string& name() const override { return found_.name; }
  const std::optional<FileStatus>& status() const override { return found_.status; }
  Result<std::string> read(std::uint64_t offset, std::size_t max) const override;
  std::optional<std::string> read_at_once(std::size_t max) const override;
  Result<std::vector<Entry>> list() const override;
  Result<std::unique_ptr<Folder>> open_folder() const override;
  Result<void> replace(std::string_view bytes, std::string_view expected) const override;

 private:
  std::string shown() const { return join_path(found_.root_path, found_.name); }
  Result<Descriptor> reopened(int flags, std::string_view verb) const;
  Result<Descriptor> parent() const;
  Result<Descriptor> parent_made() const;
  std::unexpected<Error> has_changed() const {
    return fail(ErrorCode::busy, fmt::format("{} has changed meanwhile", shown()), "read it again");
  }
  // Of the file that has the expected content, or nothing where no file is expected and none is
  // there.
  Result<std::optional<struct stat>> status_if_as_expected(int parent, const std::string& leaf,
                                                           std::string_view expected) const;

  Found found_;
};

// The same file again, not the same name.
Result<Descriptor> SystemPlace::reopened(int flags, std::string_view verb) const {
  if (!found_.status) {
    errno = ENOENT;
    return failed(verb, shown());
  }
  Descriptor opened(
      ::open(fmt::format("/proc/self/fd/{}", found_.nearest.get()).c_str(), flags | kNeverWait));
  if (!opened) return failed(verb, shown());
  return opened;
}

Result<std::string> SystemPlace::read(std::uint64_t offset, std::size_t max) const {
  if (found_.status && found_.status->kind != EntryKind::file)
    return not_a_file(found_.status->kind, "read", shown());
  TRY(const Descriptor file, reopened(O_RDONLY, "read"));
  return read_bytes(file.get(), offset, max, shown());
}

std::optional<std::string> SystemPlace::read_at_once(std::size_t max) const {
  const auto& status = found_.status;
  if (!found_.is_at_hand || status->kind != EntryKind::file || status->size > max) return std::nullopt;
  const auto file = reopened(O_RDONLY, "read");
  return file ? deputy::read_at_once(file->get(), status->size) : std::nullopt;
}

Result<std::vector<Entry>> SystemPlace::list() const {
  TRY(Descriptor folder, reopened(kReadableFolder, "list"));
  return list_entries(std::move(folder), shown());
}

Result<std::unique_ptr<Folder>> SystemPlace::open_folder() const {
  TRY(Descriptor folder, reopened(kFolder, "open the folder"));
  return folder_on(std::move(folder), shown());
}

Result<Descriptor> SystemPlace::parent() const {
  const std::string above = split_name(found_.name).parent;
  if (!found_.status) return parent_made();
  Descriptor folder = open_beneath(found_.root.get(), above, kReadableFolder, 0, Links::refuse);
  if (!folder) return not_opened("write", shown(), found_.root_path);
  return folder;
}

// Links that appear on the way are not followed.
Result<Descriptor> SystemPlace::parent_made() const {
  Descriptor folder = open_beneath(found_.nearest.get(), ".", kReadableFolder);
  if (!folder) return not_opened("write", shown(), found_.root_path);
  for (std::size_t i = 0; i + 1 < found_.missing.size(); ++i) {
    const std::string& name = found_.missing[i];
    if (::mkdirat(folder.get(), name.c_str(), kNewFolderHere) == 0) {
      if (!sync_folder(folder.get())) return failed("make the folders of", shown());
    } else if (errno != EEXIST) {
      return failed("make the folders of", shown());
    }
    Descriptor next = open_beneath(folder.get(), name, kReadableFolder, 0, Links::refuse);
    if (!next) return not_opened("write", shown(), found_.root_path);
    folder = std::move(next);
  }
  // What was a folder of the root when it was looked up may have been moved elsewhere since.
  TRY(const std::string now, name_now(found_.root.get(), folder.get(), shown(), found_.root_path));
  if (now != split_name(found_.name).parent) return has_changed();
  return folder;
}

Result<std::optional<struct stat>> SystemPlace::status_if_as_expected(int parent, const std::string& leaf,
                                                                      std::string_view expected) const {
  const Descriptor file = open_beneath(parent, leaf, O_RDONLY | O_NOFOLLOW | kNeverWait, 0, Links::refuse);
  if (!file && errno == ENOENT) {
    if (!expected.empty()) return has_changed();
    return std::nullopt;
  }
  if (!file) return not_opened("write", shown(), found_.root_path);
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return failed("write", shown());
  if (!S_ISREG(found.st_mode)) return not_a_file(status_of(found).kind, "write", shown());
  TRY(const std::string content, read_bytes(file.get(), 0, kAll, shown()));
  if (expected.empty() || sha256_hex(content) != expected) return has_changed();
  return found;
}

Result<void> SystemPlace::replace(std::string_view bytes, std::string_view expected) const {
  const SplitName parts = split_name(found_.name);
  TRY(check_leaf(parts, shown()));
  const std::scoped_lock lock(one_at_a_time());
  TRY(const Descriptor folder, parent());
  TRY(const auto old, status_if_as_expected(folder.get(), parts.leaf, expected));
  NewFile file{.bytes = bytes, .mode = kNewFileHere};
  if (old) file = {.bytes = bytes, .mode = old->st_mode & 0777, .keeps_mode = true, .like = &*old};
  return put_in_place(folder.get(), parts.leaf, file, old ? IfThere::replace : IfThere::fail, shown());
}

// What was removed meanwhile has no name to be judged by.
Result<FileStatus> status_while_named(int descriptor, const std::string& shown) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return failed("look at", shown);
  if (status.st_nlink == 0) {
    errno = ENOENT;
    return failed("look at", shown);
  }
  return status_of(status);
}

// A name below `found.nearest` that does not exist, or a link that leads nowhere: to make what it names
// would be to make something that nobody named.
Result<void> check_missing(const SystemPlace::Found& found, const std::string& shown) {
  if (std::ranges::find(found.missing, "..") != found.missing.end()) {
    return fail(ErrorCode::not_found, fmt::format("{} climbs out of a folder that is not there", shown),
                "name it without \"..\"");
  }
  struct stat leaf{};
  const std::string& first = found.missing.front();
  if (::fstatat(found.nearest.get(), first.c_str(), &leaf, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return failed("look at", shown);
  }
  if (S_ISLNK(leaf.st_mode)) {
    return fail(ErrorCode::denied, fmt::format("{} is, or lies behind, a link that leads nowhere", shown),
                "name the file itself");
  }
  return fail(ErrorCode::busy, fmt::format("{} appeared while it was looked for", shown), "try again");
}

}  // namespace

Result<std::unique_ptr<Place>> place_beneath(int root, const std::string& root_path,
                                             const std::string& name) {
  const std::string shown = join_path(root_path, name);
  SystemPlace::Found found{.root = Descriptor(::fcntl(root, F_DUPFD_CLOEXEC, 0)), .root_path = root_path};
  if (!found.root) return failed("look at", shown);
  std::string present = name;
  for (found.nearest = open_beneath(root, present, O_PATH); !found.nearest;
       found.nearest = open_beneath(root, present, kFolder)) {
    if (errno != ENOENT || present == ".") return not_opened("look at", shown, root_path);
    SplitName parts = split_name(present);
    found.missing.insert(found.missing.begin(), std::move(parts.leaf));
    present = std::move(parts.parent);
  }
  TRY(found.name, name_now(root, found.nearest.get(), shown, root_path));
  if (!found.missing.empty()) {
    TRY(check_missing(found, shown));
    for (const std::string& part : found.missing)
      found.name = found.name == "." ? part : join_path(found.name, part);
    return std::make_unique<SystemPlace>(std::move(found));
  }
  TRY(found.status, status_while_named(found.nearest.get(), shown));
  return std::make_unique<SystemPlace>(std::move(found));
}

std::unique_ptr<Place> place_beneath_at_once(int root, const std::string& root_path,
                                             const std::string& name) {
  const std::string shown = join_path(root_path, name);
  SystemPlace::Found found{.root = Descriptor(::fcntl(root, F_DUPFD_CLOEXEC, 0)), .root_path = root_path};
  found.nearest = open_at_once(root, name);
  if (!found.root || !found.nearest) return nullptr;
  auto named = name_now(root, found.nearest.get(), shown, root_path);
  auto status = status_while_named(found.nearest.get(), shown);
  if (!named || !status) return nullptr;
  found.name = *std::move(named);
  found.status = *status;
  found.is_at_hand = true;
  return std::make_unique<SystemPlace>(std::move(found));
}

}  // namespace deputy
