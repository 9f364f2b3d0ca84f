// Glob: the files of the workspace whose path matches a pattern.
#pragma once

#include "tools/tool.h"

namespace deputy {

class GlobTool final : public Tool {
 public:
  const ToolText& text() const override;
  Effect effect() const override { return Effect::pure; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  std::optional<std::string> path(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;
};

}  // namespace deputy
