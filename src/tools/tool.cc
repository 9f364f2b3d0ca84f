#include "tools/tool.h"

#include <fmt/format.h>

namespace deputy {

std::string Tool::approval_text(const json::object& arguments, const ToolContext&) const {
  return fmt::format("{} {}", text().name, shown(arguments));
}

ToolResult tool_ok(std::string content) { return {.status = ToolStatus::ok, .content = std::move(content)}; }

ToolResult tool_error(std::string content) {
  return {.status = ToolStatus::error, .content = std::move(content)};
}

}  // namespace deputy
