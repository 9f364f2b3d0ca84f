// task_status, task_cancel and task_message: what a session has running in the background, seen, ended and
// written to by id. A session sees its own alone.
#pragma once

#include <vector>

#include "tools/background_work.h"
#include "tools/tool.h"

namespace deputy {

class TaskStatusTool final : public Tool {
 public:
  explicit TaskStatusTool(std::vector<BackgroundWork*> sources, BackgroundBounds bounds = {})
      : sources_(std::move(sources)), bounds_(bounds) {}
  const ToolText& text() const override;
  Effect effect() const override { return Effect::pure; }
  std::size_t most_result_bytes() const override;  // what is told bounds itself
  std::string shown(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  std::vector<BackgroundWork*> sources_;
  BackgroundBounds bounds_;
};

class TaskCancelTool final : public Tool {
 public:
  explicit TaskCancelTool(std::vector<BackgroundWork*> sources, BackgroundBounds bounds = {})
      : sources_(std::move(sources)), bounds_(bounds) {}
  const ToolText& text() const override;
  Effect effect() const override { return Effect::keyed; }  // what has ended stays so
  Decision by_default() const override { return Decision::allow; }
  std::size_t most_result_bytes() const override;  // what is told bounds itself
  std::string shown(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  std::vector<BackgroundWork*> sources_;
  BackgroundBounds bounds_;
};

class TaskMessageTool final : public Tool {
 public:
  explicit TaskMessageTool(std::vector<BackgroundWork*> sources) : sources_(std::move(sources)) {}
  const ToolText& text() const override;
  Effect effect() const override { return Effect::keyed; }  // a message is known by its call
  Decision by_default() const override { return Decision::allow; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  std::vector<BackgroundWork*> sources_;
};

}  // namespace deputy
