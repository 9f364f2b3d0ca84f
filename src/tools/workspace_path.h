// Paths as models write them, and what to tell a model about one that is no good. What a path may reach is
// not decided here: the workspace's Folder does that. But the path it gets is the one the rules were asked
// about, so it is made plain as text first.
#pragma once

#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "tools/sight.h"

namespace deputy {

inline constexpr std::size_t kMaxPathBytes = 4096;

// Relative to the workspace, without "." and ".." and doubled slashes; "." for the workspace itself.
Result<std::string> workspace_path(const Folder& workspace, std::string_view given);

// Why `path` could not be used, and what to do instead: names that are near, where it does not exist. Looks
// at the disk.
std::string trouble_with(const Folder& workspace, const std::string& path, const Error& error,
                         const Sight& sight);

// A path on one line, with nothing invisible in it.
std::string shown_path(std::string_view path);

}  // namespace deputy
