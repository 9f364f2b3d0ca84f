// The tools granted to one session, and the pipeline every call goes through: known and granted? → arguments
// valid? → where does its path lead? → what do the rules say? → plan → ask, unless it is refused anyway →
// record the intent → run → bound the result. A call that is not granted cannot run, whatever name the model
// sends.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_schema.h"
#include "guard/rules.h"
#include "tools/tool.h"

namespace deputy {

// A call of the last reply that has no result yet. Where a process before this one had begun it, `started`
// says so and `traces` is what it left.
struct PendingCall {
  int index = 0;
  Call call;
  bool started = false;
  std::vector<Fact> traces;
};

// Adds the tool in place of any other of its name: it wins the clash.
void grant_over(std::vector<std::shared_ptr<Tool>>& granted, std::shared_ptr<Tool> tool);

class Toolbox {
 public:
  Toolbox(std::vector<std::shared_ptr<Tool>> granted, Rules rules);

  // Names, texts and schemas in a stable order, for the model.
  const std::vector<ToolText>& texts() const { return texts_; }

  // Runs the calls of one step and records each: neighbours that may, at the same time; what has an effect
  // alone and in order. All results are recorded or riding along when it returns. An Error only when the
  // journal fails.
  Task<Result<void>> run(std::vector<PendingCall> calls, ToolContext context) const;

 private:
  struct Granted {
    Result<std::vector<std::string>> mistakes_in(const json::object& arguments) const;
    std::shared_ptr<Tool> tool;
    // Compiled for the first call: most sessions call few of the tools they have.
    mutable std::shared_ptr<const JsonSchema> schema = nullptr;
  };
  // A call that passed: what it will run with.
  struct Cleared {
    const Granted* granted = nullptr;
    json::object arguments;
  };
  const Granted* find(std::string_view name) const;
  Company company_of(const PendingCall& call) const;
  // Known, granted, valid? The error tells the model how to put it right.
  std::expected<Cleared, ToolResult> clear(const Call& call) const;
  // Where its path leads, if it has one. The error is why the session's workspace has no place for it.
  static Task<std::expected<std::optional<Target>, ToolResult>> target_of(Cleared& cleared,
                                                                          ToolContext& context);
  static Task<Tool::Planned> planned(Cleared cleared, ToolContext context);
  static Task<std::optional<ToolResult>> refusal(Cleared cleared, ToolContext context);
  // Asks whoever can approve; nothing where it was approved. The intent is recorded with the approval, so
  // that after a crash nothing else is taken for what was approved.
  Task<Result<std::optional<ToolResult>>> declined(Cleared cleared, ToolContext context,
                                                   bool is_started) const;
  static CallStarted intent_of(const Cleared& cleared, const ToolContext& context);
  static Task<Result<void>> record_intent(Cleared& cleared, ToolContext& context);
  // What there is to say without running it, such as why it is not permitted; nothing where it is to run: its
  // intent is recorded. What is made on the way is not kept while it runs.
  Task<Result<std::optional<ToolResult>>> result_without_run(PendingCall& call, Cleared& cleared,
                                                             ToolContext& context) const;
  Task<Result<ToolResult>> result_of(PendingCall& call, ToolContext& context) const;
  // Calls that run at the same time. Each of their tasks takes the next of them, so that they begin in their
  // order, whichever task is the first to run.
  struct Neighbours {
    std::span<PendingCall> calls;
    std::vector<Result<void>> outcomes;
    std::size_t begun = 0;
  };
  Task<> run_next(Neighbours& among, ToolContext context) const;
  Task<> run_beside(Neighbours& among, ToolContext& context) const;

  std::map<std::string, Granted, std::less<>> granted_;
  std::vector<ToolText> texts_;
  Rules rules_;
};

}  // namespace deputy
