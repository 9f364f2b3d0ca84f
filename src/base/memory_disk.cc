#include <fmt/format.h>

#include <cerrno>
#include <mutex>

#include "base/disk.h"
#include "base/disk_names.h"
#include "base/text.h"

namespace deputy {
namespace {

// What a disk and its open folders share.
struct MemoryFiles {
  struct Node {
    FileStatus status;
    std::string bytes;
  };
  using Nodes = std::map<std::string, Node, std::less<>>;

  explicit MemoryFiles(const Clock& source) : clock(source) { make_missing_folders("/work"); }

  const Clock& clock;
  std::function<Result<void>(std::string_view)> fault;
  mutable std::mutex mutex;  // guards nodes: the pool may call from several threads
  Nodes nodes;

  void make_missing_folders(const std::string& path) {
    for (std::string made = path; !nodes.contains(made); made = folder_of(made)) {
      nodes[made].status = {EntryKind::folder, 0, clock.wall(), 0700};
      if (made == "/") return;
    }
  }

  static std::string folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : std::string(path.substr(0, slash));
  }

  // What the kernel would say on the way to `path`: 0 when all folders above it are there.
  int reason_against_parents(const std::string& path) const {
    if (path == "/") return 0;
    const std::string parent = folder_of(path);
    if (const int reason = reason_against_parents(parent); reason != 0) return reason;
    const auto found = nodes.find(parent);
    if (found == nodes.end()) return ENOENT;
    return found->second.status.kind == EntryKind::folder ? 0 : ENOTDIR;
  }

  // The names beneath a folder are the neighbours that begin with its path and a slash.
  static std::string prefix_of(const std::string& path) { return path == "/" ? path : path + '/'; }
  bool has_entries(const std::string& path) const {
    const std::string prefix = prefix_of(path);
    const auto next = nodes.upper_bound(prefix);
    return next != nodes.end() && next->first.starts_with(prefix);
  }

  void store(const std::string& path, std::string bytes) {
    Node& node = nodes[path];
    if (node.status.mode == 0) node.status.mode = 0600;
    node.bytes = std::move(bytes);
    node.status.size = node.bytes.size();
    node.status.modified = clock.wall();
  }

  void move(const std::string& from, const std::string& to) {
    const std::string prefix = prefix_of(from);
    std::vector<std::string> moving{from};
    for (auto next = nodes.upper_bound(prefix); next != nodes.end() && next->first.starts_with(prefix);
         ++next) {
      moving.push_back(next->first);
    }
    nodes.erase(to);
    for (const std::string& name : moving) {
      auto node = nodes.extract(name);
      node.key() = to + name.substr(from.size());
      nodes.insert(std::move(node));
    }
  }

  Result<void> ask_fault(std::string_view path) const { return fault ? fault(path) : Result<void>{}; }
};

class MemoryFolder final : public Folder {
 public:
  MemoryFolder(std::shared_ptr<MemoryFiles> files, std::string path)
      : files_(std::move(files)), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }
  int descriptor() const override { return -1; }

  Result<std::unique_ptr<Folder>> open_folder(std::string_view name) const override {
    TRY(const FileStatus found, status(name));
    TRY(std::string path, resolved(name));
    if (found.kind != EntryKind::folder) return failed(ENOTDIR, "open the folder", path);
    return std::make_unique<MemoryFolder>(files_, std::move(path));
  }

  Result<FileStatus> status(std::string_view name) const override {
    TRY(const std::string path, resolved(name));
    const std::scoped_lock lock(files_->mutex);
    TRY(const auto* node, node_at(path, "look at"));
    return node->status;
  }

  Result<std::vector<Entry>> list(std::string_view name) const override {
    TRY(const std::string path, resolved(name));
    const std::scoped_lock lock(files_->mutex);
    TRY(const auto* node, node_at(path, "list"));
    if (node->status.kind != EntryKind::folder) return failed(ENOTDIR, "list", path);
    const std::string prefix = MemoryFiles::prefix_of(path);
    std::vector<Entry> entries;
    for (auto next = files_->nodes.upper_bound(prefix);
         next != files_->nodes.end() && next->first.starts_with(prefix); ++next) {
      const std::string_view rest = std::string_view(next->first).substr(prefix.size());
      if (!rest.contains('/')) entries.push_back({std::string(rest), next->second.status});
    }
    return entries;
  }

  Result<std::string> read(std::string_view name, std::uint64_t offset, std::size_t max) const override {
    TRY(const std::string path, resolved(name));
    const std::scoped_lock lock(files_->mutex);
    TRY(const auto* node, node_at(path, "read"));
    if (node->status.kind == EntryKind::folder) return std::unexpected(is_folder("read", path));
    if (offset >= node->bytes.size()) return std::string();
    return node->bytes.substr(offset, max);
  }

  Result<void> make_folder(std::string_view name) const override {
    TRY(const std::string path, resolved(name));
    TRY(files_->ask_fault(path));
    const std::scoped_lock lock(files_->mutex);
    for (std::string above = path; above != "/"; above = MemoryFiles::folder_of(above)) {
      const auto found = files_->nodes.find(above);
      if (found != files_->nodes.end() && found->second.status.kind != EntryKind::folder) {
        return failed(ENOTDIR, "make the folder", path);
      }
    }
    files_->make_missing_folders(path);
    return {};
  }

  Result<void> append_to(std::string_view name, std::string_view bytes) const override {
    return write(name, bytes, [](std::string before, std::string_view more) { return before.append(more); });
  }

  Result<void> replace(std::string_view name, std::string_view bytes) const override {
    return write(name, bytes, [](const std::string&, std::string_view all) { return std::string(all); });
  }

  Result<void> rename(std::string_view from, std::string_view to) const override {
    TRY(const std::string old_path, changeable(from));
    TRY(const std::string new_path, changeable(to));
    TRY(files_->ask_fault(new_path));
    const std::scoped_lock lock(files_->mutex);
    TRY(const auto* node, node_at(old_path, "rename"));
    const int reason = reason_against_rename(*node, old_path, new_path);
    if (reason != 0) return failed(reason, "rename", fmt::format("{} to {}", old_path, new_path));
    if (old_path != new_path) files_->move(old_path, new_path);
    return {};
  }

  Result<void> remove(std::string_view name) const override {
    TRY(const std::string path, changeable(name));
    TRY(files_->ask_fault(path));
    const std::scoped_lock lock(files_->mutex);
    TRY(node_at(path, "remove"));
    if (files_->has_entries(path)) return failed(ENOTEMPTY, "remove", path);
    files_->nodes.erase(path);
    return {};
  }

 private:
  using Node = MemoryFiles::Node;

  static std::unexpected<Error> failed(int number, std::string_view verb, std::string_view path) {
    return std::unexpected(error_from_errno(number, fmt::format("{} {}", verb, path)));
  }
  static Error is_folder(std::string_view verb, std::string_view path) {
    return {ErrorCode::invalid, fmt::format("cannot {} {}: it is a folder", verb, path),
            "name a regular file"};
  }

  // The absolute path that `name` means; ".." is taken away here as the kernel would, there being no links.
  Result<std::string> resolved(std::string_view name) const {
    TRY(const std::string clean, name_beneath(path_, name));
    std::vector<std::string_view> parts;
    for (const std::string_view part : split(clean, '/')) {
      if (part == ".") continue;
      if (part != "..") {
        parts.push_back(part);
      } else if (parts.empty()) {
        return std::unexpected(outside_folder(join_path(path_, clean), path_));
      } else {
        parts.pop_back();
      }
    }
    std::string path = path_;
    for (const std::string_view part : parts) path = join_path(path, part);
    return path;
  }

  Result<std::string> changeable(std::string_view name) const {
    TRY(const std::string clean, name_beneath(path_, name));
    TRY(check_leaf(split_name(clean), join_path(path_, clean)));
    return resolved(name);
  }

  Result<const Node*> node_at(const std::string& path, std::string_view verb) const {
    if (const int reason = files_->reason_against_parents(path); reason != 0)
      return failed(reason, verb, path);
    const auto found = files_->nodes.find(path);
    if (found == files_->nodes.end()) return failed(ENOENT, verb, path);
    return &found->second;
  }

  template <class Change>
  Result<void> write(std::string_view name, std::string_view bytes, Change change) const {
    TRY(const std::string path, changeable(name));
    TRY(files_->ask_fault(path));
    const std::scoped_lock lock(files_->mutex);
    if (const int reason = files_->reason_against_parents(path); reason != 0)
      return failed(reason, "write", path);
    const auto found = files_->nodes.find(path);
    const bool exists = found != files_->nodes.end();
    if (exists && found->second.status.kind == EntryKind::folder)
      return std::unexpected(is_folder("write", path));
    files_->store(path, change(exists ? std::move(found->second.bytes) : std::string(), bytes));
    return {};
  }

  int reason_against_rename(const Node& node, const std::string& from, const std::string& to) const {
    if (const int reason = files_->reason_against_parents(to); reason != 0) return reason;
    if (from == to) return 0;
    const bool moves_folder = node.status.kind == EntryKind::folder;
    if (moves_folder && to.starts_with(MemoryFiles::prefix_of(from))) return EINVAL;
    const auto target = files_->nodes.find(to);
    if (target == files_->nodes.end()) return 0;
    const bool onto_folder = target->second.status.kind == EntryKind::folder;
    if (moves_folder != onto_folder) return moves_folder ? ENOTDIR : EISDIR;
    return files_->has_entries(to) ? ENOTEMPTY : 0;
  }

  std::shared_ptr<MemoryFiles> files_;
  std::string path_;
};

}  // namespace

struct MemoryDisk::State : MemoryFiles {
  using MemoryFiles::MemoryFiles;
};

MemoryDisk::MemoryDisk(const Clock& clock) : state_(std::make_shared<State>(clock)) {}
MemoryDisk::~MemoryDisk() = default;

Result<std::unique_ptr<Folder>> MemoryDisk::open(std::string_view absolute_path, IfAbsent if_absent) const {
  TRY(check_absolute(absolute_path));
  const MemoryFolder root(state_, "/");
  Result<std::unique_ptr<Folder>> opened = root.open_folder(absolute_path);
  if (opened || if_absent == IfAbsent::fail || opened.error().code != ErrorCode::not_found) return opened;
  TRY(root.make_folder(absolute_path));
  return root.open_folder(absolute_path);
}

Result<FileStatus> MemoryDisk::status(std::string_view absolute_path) const {
  TRY(check_absolute(absolute_path));
  return MemoryFolder(state_, "/").status(absolute_path);
}

void MemoryDisk::set_fault(std::function<Result<void>(std::string_view path)> fault) {
  state_->fault = std::move(fault);
}

std::map<std::string, std::string> MemoryDisk::files() const {
  const std::scoped_lock lock(state_->mutex);
  std::map<std::string, std::string> all;
  for (const auto& [path, node] : state_->nodes) {
    if (node.status.kind == EntryKind::file) all.emplace(path, node.bytes);
  }
  return all;
}

}  // namespace deputy
