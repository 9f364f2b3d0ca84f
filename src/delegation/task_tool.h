// task: one child by profile. Its text lists the profiles that the caller has declared, so there is one such
// tool for each profile that may delegate.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tool.h"
#include "transcript/profile.h"
#include "transcript/report.h"
#include "transcript/session.h"

namespace deputy {

class Tree;

struct TaskArguments {
  std::string agent;
  std::string prompt;
  std::string description;
  std::optional<int> max_turns;
  std::optional<Duration> timeout;
  bool background = false;
  std::optional<SessionId> resume = std::nullopt;
};

// Of arguments that the schema has found valid. The error says what to call it with instead.
Result<TaskArguments> read_task_arguments(const json::object& arguments);

// The profiles that a tool's text offers, with their guidance.
std::string list_of(const std::vector<const Profile*>& declared);
// The declared name that a call's name means: what other programs call the general agent is that one.
std::string declared_name(const std::string& agent, const std::vector<std::string>& declared);
ToolResult not_declared(const Tree& tree, std::string_view agent, const std::vector<std::string>& declared);
// Of a call, kNoTimeout for "none"; nothing where it says nothing.
std::optional<Duration> timeout_in(const json::object& arguments);

class TaskTool final : public Tool {
 public:
  // What a person typed as a command is allowed by default.
  TaskTool(Tree& tree, const std::vector<const Profile*>& declared, Decision by_default = Decision::ask);
  static std::string_view schema();  // whatever is declared

  const ToolText& text() const override { return text_; }
  Effect effect() const override { return Effect::keyed; }
  bool only_records() const override { return true; }
  Decision by_default() const override { return by_default_; }
  Company company() const override { return Company::beside_others; }
  std::size_t most_result_bytes() const override;  // the report bounds itself
  std::string shown(const json::object& arguments) const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;
  Task<std::optional<ToolResult>> refusal(json::object arguments, ToolContext context) override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  Result<TaskArguments> read(const json::object& arguments) const;
  // One that is there already, from before a restart, has its own end, also where its profile is gone.
  bool is_offered(const std::string& agent, const ToolContext& context) const;
  std::optional<Session> resumed(const TaskArguments& read) const;
  // The child that a call goes on with, or what it is told instead.
  std::expected<Session, ToolResult> to_resume(const TaskArguments& read, const ToolContext& context) const;
  // Their caller keeps what they refer to.
  Task<ToolResult> start(const TaskArguments* read, ToolContext& context);
  Task<ToolResult> resume(const TaskArguments* read, ToolContext& context);

  Tree& tree_;
  ToolText text_;
  std::vector<std::string> declared_;
  Decision by_default_;
};

}  // namespace deputy
