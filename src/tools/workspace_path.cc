#include "tools/workspace_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/disk_names.h"
#include "base/text.h"

namespace deputy {
namespace {

Result<std::string> outside(const Folder& workspace, std::string_view given) {
  return fail(ErrorCode::denied,
              fmt::format("{} lies outside the workspace {}", shown_path(given), workspace.path()),
              "give a path inside it, relative to it");
}

// The first name on the way to `path` that is not there.
std::string first_missing(const Folder& workspace, std::string path) {
  for (;;) {
    const std::string parent = split_name(path).parent;
    if (parent == "." || workspace.status(parent)) return path;
    path = parent;
  }
}

}  // namespace

Result<std::string> workspace_path(const Folder& workspace, std::string_view given) {
  if (given.size() > kMaxPathBytes) {
    return fail(ErrorCode::invalid, fmt::format("the path is {} bytes long", with_thousands(given.size())),
                fmt::format("no path has more than {}", kMaxPathBytes));
  }
  const Result<std::string> beneath = name_beneath(workspace.path(), given);
  if (!beneath) return beneath.error().code == ErrorCode::denied ? outside(workspace, given) : beneath;
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(*beneath, '/')) {
    if (part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return outside(workspace, given);
    } else {
      parts.pop_back();
    }
  }
  return parts.empty() ? "." : fmt::format("{}", fmt::join(parts, "/"));
}

std::string not_there(const Target& target, const Sight& sight) {
  const Folder& root = *target.root;
  const bool is_in_workspace = !target.name.starts_with('/');
  const std::string missing = first_missing(root, target.place->name());
  const SplitName name = split_name(missing);
  const auto named = [&](const std::string& leaf) {
    const std::string in_root = name.parent == "." ? leaf : join_path(name.parent, leaf);
    return is_in_workspace ? in_root : join_path(root.path(), in_root);
  };
  std::vector<std::string> names;
  if (const auto entries = root.list(name.parent)) {
    for (const Entry& entry : *entries) {
      if (sight.shows("List", named(entry.name))) names.push_back(entry.name);
    }
  }
  std::vector<std::string> near;
  for (const std::string& each : nearest(name.leaf, names)) near.push_back(shown_path(named(each)));
  const std::string advice = near.empty() ? "Use Glob or List to see what there is."
                                          : fmt::format("Did you mean {}?", fmt::join(near, " or "));
  return fmt::format("There is no {}{}. {}", shown_path(named(name.leaf)),
                     is_in_workspace ? " in the workspace" : "", advice);
}

std::string shown_path(std::string_view path) {
  std::string out;
  for (const char c : made_visible(to_utf8(path))) {
    if (c == '\n') {
      out += "␊";
    } else if (c == '\t') {
      out += "␉";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace deputy
