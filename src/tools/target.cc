#include "tools/target.h"

#include <utility>

#include "tools/workspace_path.h"

namespace deputy {
namespace {

// Which root a path lies beneath, and where in it: by its letters alone.
struct Way {
  const Folder* root;
  std::string plain;
  bool is_in_workspace;
};

Result<Way> way_to(const Folder& workspace, const std::vector<const Folder*>& roots, std::string_view given) {
  auto plain = workspace_path(workspace, given);
  if (plain) return Way{&workspace, *std::move(plain), true};
  for (const Folder* root : roots) {
    if (!given.starts_with('/')) break;
    if (auto in_root = workspace_path(*root, given)) return Way{root, *std::move(in_root), false};
  }
  return std::unexpected(std::move(plain).error());
}

Target target_at(const Way& way, std::unique_ptr<Place> place) {
  std::string path = join_path(way.root->path(), place->name());
  std::string name = way.is_in_workspace ? place->name() : path;
  return {.root = way.root, .place = std::move(place), .name = std::move(name), .path = std::move(path)};
}

}  // namespace

Result<Target> find_target(const Folder& workspace, const std::vector<const Folder*>& roots,
                           std::string_view given) {
  TRY(const Way way, way_to(workspace, roots, given));
  TRY(auto place, way.root->look_up(way.plain));
  return target_at(way, std::move(place));
}

std::optional<Target> find_target_at_once(const Folder& workspace, const std::vector<const Folder*>& roots,
                                          std::string_view given) {
  const auto way = way_to(workspace, roots, given);
  auto place = way ? way->root->look_up_at_once(way->plain) : nullptr;
  return place ? std::optional(target_at(*way, std::move(place))) : std::nullopt;
}

}  // namespace deputy
