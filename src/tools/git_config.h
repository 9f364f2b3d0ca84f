// What a git configuration takes from other places of the disk: the files that it includes, and the folder
// with its hooks. Read as git reads it; what git would refuse ends it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct GitConfigPaths {
  std::vector<std::string> included;  // relative to the file's own folder
  std::vector<std::string> hooks;     // relative to the top of the work tree
  bool operator==(const GitConfigPaths&) const = default;
};
GitConfigPaths paths_in_git_config(std::string_view text);

}  // namespace deputy
