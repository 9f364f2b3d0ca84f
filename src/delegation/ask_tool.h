// ask_parent and ask_user: a call that holds until somebody answers, or it is clear that nobody will. The
// question is durable before anybody hears it, the answer before the asker does.
#pragma once

#include <string>

#include "tools/tool.h"

namespace deputy {

class Tree;

constexpr int kMostQuestions = 10;  // of one child
constexpr std::chrono::minutes kAnswerTime = std::chrono::minutes(10);

class AskTool : public Tool {
 public:
  Effect effect() const override { return Effect::keyed; }
  bool only_records() const override { return true; }
  Decision by_default() const override { return Decision::allow; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  static Task<Result<void>> record_question(Question& question, ToolContext& context);
  static Task<Result<void>> record_answer(Question& question, Answer& answer, ToolContext& context);
  virtual QuestionKind kind() const = 0;
  virtual Task<Answer> ask(Question& question, ToolContext& context) = 0;
  // Why the question is not even asked; empty where it is.
  virtual std::string cannot_ask(const ToolContext&) const { return {}; }
  virtual std::string told_of(const Answer& answer) const = 0;
};

class AskParentTool final : public AskTool {
 public:
  explicit AskParentTool(Tree& tree) : tree_(tree) {}
  const ToolText& text() const override;

 private:
  QuestionKind kind() const override { return QuestionKind::to_parent; }
  Task<Answer> ask(Question& question, ToolContext& context) override;
  std::string cannot_ask(const ToolContext& context) const override;
  std::string told_of(const Answer& answer) const override;

  Tree& tree_;
};

// The person is asked: by the root, and by a child whose parent is the person's own command.
class AskUserTool final : public AskTool {
 public:
  enum class Name { ask_user, ask_parent };
  explicit AskUserTool(Name name) : name_(name) {}
  const ToolText& text() const override;

 private:
  QuestionKind kind() const override { return QuestionKind::to_person; }
  Task<Answer> ask(Question& question, ToolContext& context) override;
  std::string told_of(const Answer& answer) const override;

  Name name_;
};

}  // namespace deputy
