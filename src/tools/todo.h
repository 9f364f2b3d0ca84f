// Todo: the model's own list of what is to do. It keeps nothing: the list is the call itself, and the answer
// shows it as the model will see it again.
#pragma once

#include "tools/tool.h"

namespace deputy {

class TodoTool final : public Tool {
 public:
  const ToolText& text() const override;
  Effect effect() const override { return Effect::pure; }
  std::string shown(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;
};

}  // namespace deputy
