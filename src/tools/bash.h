// Bash: one shell command in the workspace, confined by the kernel as the session's workspace mode says, with
// nothing of the person's environment and no network unless granted. Below the level that the policy names it
// is refused, never run less confined. It may have effects of any kind, so it is never run twice.
#pragma once

#include "tools/background_commands.h"
#include "tools/tool.h"

namespace deputy {

struct BashPolicy {
  SandboxLevel least = SandboxLevel::isolated;
  std::chrono::milliseconds time_limit{120'000};          // where the call says nothing
  std::chrono::milliseconds longest_time_limit{600'000};  // of a foreground command
  std::chrono::milliseconds background_time_limit{std::chrono::hours{24}};
};

class BashTool final : public Tool {
 public:
  explicit BashTool(BackgroundCommands& background, BashPolicy policy = {})
      : background_(background), policy_(policy) {}

  const ToolText& text() const override;
  Effect effect() const override { return Effect::once; }
  std::string shown(const json::object& arguments) const override;
  std::string subject(const json::object& arguments) const override;  // the command, whole
  // A command reads files by itself: what Read's rules deny is kept from it where the sandbox can do that,
  // else it is asked about, as it is where they want to be asked.
  Verdict judge(const Rules& rules, const json::object& arguments, const ToolContext& context) const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;
  // The script in the workspace that the command runs, as it is now: what is approved is what runs.
  Task<Planned> plan(json::object arguments, ToolContext context) override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;
  // By what deputy-init wrote down: it did not begin, it ended and how, or it was in the middle of it.
  Task<ToolResult> after_crash(ToolContext context) override;

 private:
  ProcessSpec spec_for(const json::object& arguments, const ToolContext& context) const;
  Task<ToolResult> run_here(ProcessSpec spec, ToolContext context) const;
  ToolResult start(std::string command, ProcessSpec spec, std::shared_ptr<const Folder> own,
                   const ToolContext& context, BackgroundCommands::Afterwards afterwards) const;

  BackgroundCommands& background_;
  BashPolicy policy_;
};

// "bash_3_1": the id of what a call of Bash has started in the background.
std::string background_id(const CallId& call);

}  // namespace deputy
