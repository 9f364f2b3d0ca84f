// Where a path lies, as text. What is judged is the name that the kernel resolved; here it is only laid
// beside the folders that rules are written against. No file is looked at.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// What paths in rules are relative to, absolute and resolved. An empty one is not known: then nothing that
// hangs on it is certain.
struct Roots {
  std::string workspace;
  std::string home;  // of the person: ~
};

struct LocatedPath {
  std::string end;                          // without root, "." and ".."; all that is known of some
  std::optional<std::string> absolute;      // without its first '/'
  std::optional<std::string> in_workspace;  // relative to it, "" for itself
  std::optional<std::string> in_home;
};

// `path` may be relative to the workspace, absolute, or begin with "~/".
LocatedPath locate(std::string_view path, const Roots& roots);

// The names in a path that are protected: writing there could run code later or widen what agents may do
// (git's own files, configuration of agents and editors, start files of shells, keys). Compared as a generous
// file system would: without case, composed, without invisible characters, trailing dots and spaces. Whether
// the file exists is no matter. A folder of a child's own (.deputy/subagents/NAME/…) is not protected.
struct ProtectedName {
  std::string name;
  std::string disguised;  // the path with another hidden name in its place
};
std::vector<ProtectedName> protected_names_in(std::string_view path);

}  // namespace deputy
