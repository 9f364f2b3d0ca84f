#include "tools/target.h"

#include <algorithm>

#include "tools/workspace_path.h"

namespace deputy {
namespace {

Result<Target> found_in(const Folder& root, const std::string& plain) {
  TRY(auto place, root.look_up(plain));
  std::string path = join_path(root.path(), place->name());
  return Target{.root = &root, .place = std::move(place), .name = {}, .path = std::move(path)};
}

}  // namespace

Result<Target> find_target(const Folder& workspace, const std::vector<const Folder*>& roots,
                           std::string_view given) {
  const auto plain = workspace_path(workspace, given);
  if (plain) {
    TRY(Target target, found_in(workspace, *plain));
    target.name = target.place->name();
    return target;
  }
  for (const Folder* root : roots) {
    const auto in_root = given.starts_with('/') ? workspace_path(*root, given) : plain;
    if (!in_root) continue;
    TRY(Target target, found_in(*root, *in_root));
    target.name = target.path;
    return target;
  }
  return std::unexpected(plain.error());
}

}  // namespace deputy
