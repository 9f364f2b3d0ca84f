// Files that a parent puts before a child's prompt, each under its path, read as the parent itself may Read.
// Blocking: called on the pool.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "tools/sight.h"

namespace deputy {

struct ContextBounds {
  std::size_t file_bytes = 256 * 1024;
  std::size_t task_bytes = 1024 * 1024;
};

// The prompt with the files before it, from the workspace or a root beside it; an Error names the first file
// that is missing, forbidden, not text or too large.
Result<std::string> with_context_files(std::string_view prompt, std::span<const std::string> paths,
                                       const Folder& workspace, const Sight& sight,
                                       const ContextBounds& bounds = {},
                                       const std::vector<const Folder*>& roots = {});

}  // namespace deputy
