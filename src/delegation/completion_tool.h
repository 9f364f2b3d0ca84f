// task_completion: how a child hands in its report. What it says is checked against a schema (the profile's
// own for the body, where it has one); what is wrong with it is told, and the child may mend it. An accepted
// report ends the run: see decide(). All else in a report is the runtime's own knowledge.
#pragma once

#include <string>

#include "base/result.h"
#include "tools/tool.h"

namespace deputy {

class CompletionTool final : public Tool {
 public:
  // `output_schema` is what the body must be; empty where any text will do. Fails for what is no schema.
  static Result<std::shared_ptr<CompletionTool>> make(std::string_view output_schema);

  const ToolText& text() const override { return text_; }
  Effect effect() const override { return Effect::pure; }
  bool runs_at_limit() const override { return true; }
  std::string shown(const json::object& arguments) const override;
  std::string subject(const json::object&) const override { return {}; }
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  explicit CompletionTool(ToolText text) : text_(std::move(text)) {}
  ToolText text_;
};

}  // namespace deputy
