#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "base/disk.h"
#include "base/disk_names.h"
#include "base/memory_disk_files.h"
#include "base/text.h"

namespace deputy {
namespace {

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

  Result<std::unique_ptr<Place>> look_up(std::string_view name) const override;

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

  Result<void> append_to(std::string_view name, std::string_view bytes, Durable) const override {
    return write(name, bytes, [](std::string before, std::string_view more) { return before.append(more); });
  }

  Result<void> replace(std::string_view name, std::string_view bytes, Durable) const override {
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

  // The absolute path that `name` means, with links followed as the kernel would, beneath the folder.
  Result<std::string> resolved(std::string_view name) const {
    TRY(const std::string clean, name_beneath(path_, name));
    const std::scoped_lock lock(files_->mutex);
    return files_->walk(path_, clean);
  }

  // As resolved(), but what stands at the end is not followed.
  Result<std::string> changeable(std::string_view name) const {
    TRY(const std::string clean, name_beneath(path_, name));
    SplitName parts = split_name(clean);
    TRY(check_leaf(parts, join_path(path_, clean)));
    TRY(const std::string parent, resolved(parts.parent));
    return join_path(parent, parts.leaf);
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
    if (exists && found->second.status.kind == EntryKind::link) {
      return fail(ErrorCode::invalid, fmt::format("cannot write {}: it is a link", path),
                  "name the file that it leads to");
    }
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

class MemoryPlace final : public Place {
 public:
  MemoryPlace(std::shared_ptr<MemoryFiles> files, const std::string& root, const std::string& path,
              std::optional<FileStatus> status)
      : files_(std::move(files)),
        folder_(files_, root),
        name_(path == root ? "." : path.substr(MemoryFiles::prefix_of(root).size())),
        path_(path),
        status_(status) {}

  const std::string& name() const override { return name_; }
  const std::optional<FileStatus>& status() const override { return status_; }
  Result<std::string> read(std::uint64_t offset, std::size_t max) const override {
    return folder_.read(name_, offset, max);
  }
  Result<std::vector<Entry>> list() const override { return folder_.list(name_); }
  Result<std::unique_ptr<Folder>> open_folder() const override { return folder_.open_folder(name_); }

  Result<void> replace(std::string_view bytes, std::string_view expected) const override {
    const SplitName parts = split_name(name_);
    TRY(check_leaf(parts, path_));
    TRY(files_->ask_fault(path_));
    const std::scoped_lock lock(files_->mutex);
    const auto found = files_->nodes.find(path_);
    const bool exists = found != files_->nodes.end();
    if (exists && found->second.status.kind != EntryKind::file)
      return fail(ErrorCode::invalid, fmt::format("cannot write {}: it is not a file", path_), "name a file");
    if (exists == expected.empty() || (exists && sha256_hex(found->second.bytes) != expected))
      return fail(ErrorCode::busy, fmt::format("{} has changed meanwhile", path_), "read it again");
    files_->make_missing_folders(MemoryFiles::folder_of(path_));
    if (!exists) files_->nodes[path_].status.mode = 0644;
    files_->store(path_, std::string(bytes));
    return {};
  }

 private:
  std::shared_ptr<MemoryFiles> files_;
  MemoryFolder folder_;
  std::string name_;
  std::string path_;
  std::optional<FileStatus> status_;
};

Result<std::unique_ptr<Place>> MemoryFolder::look_up(std::string_view name) const {
  TRY(std::string present, name_beneath(path_, name));
  const std::string shown = join_path(path_, present);
  const std::scoped_lock lock(files_->mutex);
  std::vector<std::string> missing;
  TRY(std::string path, files_->walk(path_, present));
  while (!files_->nodes.contains(path)) {
    if (files_->reason_against_parents(path) == ENOTDIR) return failed(ENOTDIR, "look at", shown);
    if (present == ".") return failed(ENOENT, "look at", shown);  // the folder itself is gone
    SplitName parts = split_name(present);
    missing.insert(missing.begin(), std::move(parts.leaf));
    present = std::move(parts.parent);
    TRY(path, files_->walk(path_, present));
  }
  if (missing.empty())
    return std::make_unique<MemoryPlace>(files_, path_, path, files_->nodes.at(path).status);
  if (std::ranges::find(missing, "..") != missing.end()) {
    return fail(ErrorCode::not_found, fmt::format("{} climbs out of a folder that is not there", shown),
                "name it without \"..\"");
  }
  if (files_->nodes.contains(join_path(path, missing.front()))) {
    return fail(ErrorCode::denied, fmt::format("{} is, or lies behind, a link that leads nowhere", shown),
                "name the file itself");
  }
  for (const std::string& part : missing) path = join_path(path, part);
  return std::make_unique<MemoryPlace>(files_, path_, path, std::nullopt);
}

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

void MemoryDisk::plant_link(std::string_view absolute_path, std::string_view target) {
  const std::scoped_lock lock(state_->mutex);
  state_->make_missing_folders(MemoryFiles::folder_of(absolute_path));
  auto& node = state_->nodes[std::string(absolute_path)];
  node.status = {EntryKind::link, 0, state_->clock.wall(), 0777};
  node.bytes = target;
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
