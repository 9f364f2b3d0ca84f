// The files of a MemoryDisk, for memory_disk.cc alone.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/disk_names.h"
#include "base/result.h"
#include "base/text.h"

namespace deputy {

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

  // Where `name` leads from `root`, which it may not leave.
  Result<std::string> walk(const std::string& root, std::string_view name) const {
    constexpr int kMostLinks = 40;
    std::string path = root;
    std::vector<std::string> ahead;  // what is still to be walked, last first
    const auto push = [&ahead](std::string_view more) {
      const auto parts = split(more, '/');
      ahead.insert(ahead.end(), parts.rbegin(), parts.rend());
    };
    push(name);
    for (int links = 0; !ahead.empty();) {
      const std::string part = std::move(ahead.back());
      ahead.pop_back();
      if (part.empty() || part == ".") continue;
      const bool leaves = part == ".." && path == root;
      if (leaves) return std::unexpected(outside_folder(join_path(root, name), root));
      if (part == "..") {
        path = folder_of(path);
        continue;
      }
      std::string next = join_path(path, part);
      const auto found = nodes.find(next);
      if (found == nodes.end() || found->second.status.kind != EntryKind::link) {
        path = std::move(next);
        continue;
      }
      const std::string& target = found->second.bytes;
      if (target.starts_with('/') || ++links > kMostLinks)
        return std::unexpected(outside_folder(join_path(root, name), root));
      push(target);
    }
    return path;
  }

  void store(const std::string& path, std::string bytes) {
    Node& node = nodes[path];
    if (node.status.mode == 0) node.status.mode = 0600;
    node.bytes = std::move(bytes);
    node.status.size = node.bytes.size();
    node.status.modified = clock.wall();
    node.status.changed = node.status.modified;
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

}  // namespace deputy
