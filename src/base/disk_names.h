// Names as text: what a Disk does to a name before any file is looked at. Nothing here decides what may be
// reached; the disks do, with the name they get from here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace deputy {

// Without empty parts, "." and a final slash. ".." stays: only the disk knows where it leads.
std::string clean_path(std::string_view path);

// `name` relative to `folder` and clean; "." for the folder itself. An absolute name must begin with the
// folder's path.
Result<std::string> name_beneath(std::string_view folder, std::string_view name);

Result<void> check_absolute(std::string_view path);

// The part before the last slash ("." without one), and the part after it.
struct SplitName {
  std::string parent;
  std::string leaf;
};
SplitName split_name(std::string_view clean_name);

// A leaf that can be made, renamed or removed: not the folder itself and not "..".
Result<void> check_leaf(const SplitName& name, std::string_view whole);

Error outside_folder(std::string_view name, std::string_view folder);

}  // namespace deputy
