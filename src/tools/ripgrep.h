// Runs ripgrep on the call's target: confined to the root that it lies in, with no configuration but ours,
// whatever stands in the pattern or the path taken as data. Files that .gitignore names, hidden ones and .git
// are left alone unless it is told otherwise.
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

// Names in its output are beneath that root. No match is an empty output. The error is what the model gets to
// read.
Task<std::expected<Searched, ToolResult>> run_ripgrep(std::vector<std::string> options, Hidden hidden,
                                                      ToolContext context);

}  // namespace deputy
