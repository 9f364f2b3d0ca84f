// Where the path of a call leads. It is looked up once, by the kernel, before the rules are asked: the name
// they judge is the name it resolved to, and what the tool then opens is what was looked up. Paths may be
// relative to the workspace, or absolute and beneath it or another root.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace deputy {

// What a session has read or written itself: the SHA-256 of each file as it knows it, by absolute path.
using FilesSeen = std::map<std::string, std::string, std::less<>>;

struct Target {
  const Folder* root = nullptr;        // that it lies beneath
  std::shared_ptr<const Place> place;  // in that root
  std::string name;  // for rules, models and people: relative to the workspace, else absolute
  std::string path;  // absolute
};

// Looks at the disk.
Result<Target> find_target(const Folder& workspace, const std::vector<const Folder*>& roots,
                           std::string_view given);
// The same of something that is there and that the kernel has in memory: waits for nothing.
std::optional<Target> find_target_at_once(const Folder& workspace, const std::vector<const Folder*>& roots,
                                          std::string_view given);

}  // namespace deputy
