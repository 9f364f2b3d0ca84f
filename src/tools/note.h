// Note: an entry in the session's scratchpad. Durable before it answers; a call that is run again after a
// crash leaves no second entry.
#pragma once

#include "tools/tool.h"

namespace deputy {

class NoteTool final : public Tool {
 public:
  static constexpr std::size_t kMaxBytes = 64 * 1024;

  const ToolText& text() const override;
  Effect effect() const override { return Effect::keyed; }
  bool only_records() const override { return true; }
  Decision by_default() const override { return Decision::allow; }
  bool runs_at_limit() const override { return true; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  std::string subject(const json::object&) const override { return {}; }
  Task<ToolResult> run(json::object arguments, ToolContext context) override;
};

}  // namespace deputy
