// Delegate: a batch of read-only children from one call. They run at the same time, at most `concurrency` of
// them; their reports come back in input order; what goes wrong with one never ends the others.
#pragma once

#include "delegation/batch_report.h"
#include "tools/tool.h"
#include "transcript/brief.h"

namespace deputy {

class Tree;
struct Delegation;

struct DelegateTask {
  Brief brief;
  std::vector<std::string> context;  // paths of files to put before the prompt
};

struct DelegateArguments {
  std::vector<DelegateTask> tasks;
  int concurrency = 2;
  BatchLayout layout = BatchLayout::markdown;
};

// Of arguments that the schema has found valid.
DelegateArguments read_delegate_arguments(const json::object& arguments);

class DelegateTool final : public Tool {
 public:
  explicit DelegateTool(Tree& tree) : tree_(tree) {}
  static const ToolText& definition();

  const ToolText& text() const override { return definition(); }
  Effect effect() const override { return Effect::keyed; }
  bool only_records() const override { return true; }
  Company company() const override { return Company::beside_others; }
  std::size_t most_result_bytes() const override;  // the batch bounds itself
  std::string shown(const json::object& arguments) const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;
  Task<std::optional<ToolResult>> refusal(json::object arguments, ToolContext context) override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  struct Batch;
  Task<> run_tasks(Batch& batch);
  Task<> read_context(Batch& batch);
  Task<Report> run_task(Delegation delegation, Result<std::string> prompt, ToolContext context);

  Tree& tree_;
};

}  // namespace deputy
