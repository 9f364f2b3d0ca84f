// A call of the root session, folded to a line; with what it changed, where it changed a file.
#pragma once

#include <cstddef>
#include <vector>

#include "transcript/message.h"
#include "tui/line.h"

namespace deputy {

std::vector<Line> call_lines(const Call& call, const ToolResult& result, std::size_t columns);

}  // namespace deputy
