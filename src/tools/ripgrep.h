// Runs ripgrep on one path of the workspace: confined to it, with no configuration but ours, whatever stands
// in the pattern or the path taken as data. Files that .gitignore names, hidden ones and .git are left alone
// unless it is told otherwise.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/tool.h"

namespace deputy {

enum class Hidden { skip, search };  // names that begin with a dot; .git is always skipped

struct Searched {
  std::string output;
  std::string warning;  // what was not searched, and why; for the model
};

// `path` as workspace_path() gives it. No match is an empty output. The error is what the model gets to read.
Task<std::expected<Searched, ToolResult>> run_ripgrep(std::vector<std::string> options, Hidden hidden,
                                                      std::string path, ToolContext context);

}  // namespace deputy
