// Grep: the lines of the workspace's files that match a regular expression, or the files, or how many.
#pragma once

#include "tools/tool.h"

namespace deputy {

class GrepTool final : public Tool {
 public:
  static constexpr std::size_t kDefaultRows = 250;

  const ToolText& text() const override;
  Effect effect() const override { return Effect::pure; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  std::optional<std::string> path(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;
};

}  // namespace deputy
