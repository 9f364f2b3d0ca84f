// One child of one parent on the whole runtime: what it replies, what it reports, and what its parent is
// told.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "support/sim_world.h"

namespace deputy {

inline constexpr auto kDone =
    R"({"calls":[{"name":"task_completion","arguments":{"status":"completed","summary":"did it","body":"All of it."}}]})";

inline std::string completion(std::string_view arguments) {
  return fmt::format(R"({{"calls":[{{"name":"task_completion","arguments":{}}}]}})", arguments);
}
inline std::string call(std::string_view tool, std::string_view arguments) {
  return fmt::format(R"({{"calls":[{{"name":"{}","arguments":{}}}]}})", tool, arguments);
}

// A parent that hands one task to `agent`, whose model gives these replies.
class AChild : public testing::Test {
 protected:
  void replies(const std::vector<std::string>& replies, std::string_view agent = "general",
               std::string_view more = "") {
    std::string list;
    for (const auto& reply : replies) list += (list.empty() ? "" : ",") + reply;
    world.script = fmt::format(
        R"({{"v":1,"sessions":[{{"match":{{"depth":0}},"replies":[{{"calls":[{{"name":"task","arguments":{{"agent":"{}","prompt":"go"{}}}}}]}},{{"text":"over"}}]}},{{"match":{{"depth":1}},"replies":[{}]}}]}})",
        agent, more, list);
    world.write_file("a.txt", "alpha\n");
  }
  Report run() {
    Life life(world, options);
    life.processes().define("bash", program, program_takes);
    const auto root = life.start(life.brief("go"));
    EXPECT_TRUE(root) << root.error().message;
    return report_of_child();
  }
  Report report_of_child() const {
    for (const auto& event : world.memory->journal) {
      const auto* ended = std::get_if<RunEnded>(&event.fact);
      if (ended && ended->report->depth == 1) return *ended->report;
    }
    ADD_FAILURE() << "the child never ended";
    return {};
  }
  // What the parent's model was told.
  std::string told() const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && event.run.session == world.sessions().front().id) return finished->result.content;
    }
    return "(nothing)";
  }
  std::string parent_told(int step) const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && event.step == step && event.run.session == world.sessions().front().id)
        return finished->result.content;
    }
    return "(nothing)";
  }
  // What the child's model was told by its call in this step.
  std::string child_told(int step, int index = 0) const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && world.memory->sessions.at(event.run.session).depth == 1 && event.step == step &&
          event.call == index)
        return finished->result.content;
    }
    return "(nothing)";
  }
  std::string errors_log() { return world.disk.files()["/home/errors.jsonl"]; }

  SimWorld world;
  Life::Options options;
  SimProcesses::Program program = [](const ProcessSpec&) { return ProcessResult{.exit_status = 3}; };
  Duration program_takes{};
};

}  // namespace deputy
