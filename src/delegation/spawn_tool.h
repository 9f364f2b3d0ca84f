// spawn_subagent and answer_subagent: one child, with dialogue. A question of the child ends the call with a
// typed result; the answer is a call of its own, which waits in the same way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tool.h"
#include "transcript/profile.h"

namespace deputy {

class Tree;

class SpawnTool final : public Tool {
 public:
  SpawnTool(Tree& tree, const std::vector<const Profile*>& declared);
  static std::string_view schema();  // whatever is declared

  const ToolText& text() const override { return text_; }
  Effect effect() const override { return Effect::keyed; }
  bool only_records() const override { return true; }
  Company company() const override { return Company::beside_others; }
  std::size_t most_result_bytes() const override;  // the report bounds itself
  std::string shown(const json::object& arguments) const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;
  Task<std::optional<ToolResult>> refusal(json::object arguments, ToolContext context) override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  // One that is there already, from before a restart, has its own end, also where its profile is gone.
  bool is_offered(const std::string& agent, const ToolContext& context) const;

  Tree& tree_;
  ToolText text_;
  std::vector<std::string> declared_;
};

class AnswerTool final : public Tool {
 public:
  explicit AnswerTool(Tree& tree) : tree_(tree) {}
  static std::string_view schema();

  const ToolText& text() const override;
  Effect effect() const override { return Effect::keyed; }
  Company company() const override { return Company::beside_others; }
  Decision by_default() const override { return Decision::allow; }
  std::size_t most_result_bytes() const override;
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  Tree& tree_;
};

}  // namespace deputy
