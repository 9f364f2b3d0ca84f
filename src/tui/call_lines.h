// A call of the root session, folded to a line; with what it changed, where it changed a file, and why it
// failed, where it did.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "transcript/message.h"
#include "tui/line.h"
#include "tui/tree_view.h"

namespace deputy {

// `ending` where its result does not say how it ended.
std::vector<Line> call_lines(const Call& call, const ToolResult& result, std::size_t columns,
                             const std::optional<CallEnding>& ending = {});

}  // namespace deputy
