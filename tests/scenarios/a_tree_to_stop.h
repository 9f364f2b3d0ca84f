// Four agents at work below a root, for tests that stop one of them, some or all, here or from another
// process.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/dialogue_world.h"

namespace deputy {

inline Call beside(std::string_view agent) {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look","run_in_background":true}})", agent));
}

// main → explore, middle → planner, researcher: all of them note something and then think for a while.
inline Act a_tree(const Scene& scene) {
  if (scene.step == 0 && scene.depth == 0) return {.calls = {beside("explore"), beside("middle")}};
  if (scene.step == 0 && scene.agent == "middle") return {.calls = {beside("planner"), beside("researcher")}};
  if (scene.step == 0)
    return {.calls = {call_of("Note", fmt::format(R"({{"content":"noted by {}"}})", scene.agent))}};
  if (scene.depth == 0 && scene.times_heard("## Subagent Result") < 2) return {.text = "I wait."};
  if (scene.depth == 0) return {.text = "done"};
  if (scene.agent == "middle" && scene.times_heard("## Subagent Result") < 2) return {.text = "I wait."};
  return {.text = "found", .after = std::chrono::minutes(20)};
}

class Cancel : public testing::Test {
 protected:
  Cancel()
      : world([this](const Scene& scene) {
          asked.push_back(scene);
          return a_tree(scene);
        }) {
    world.options.profiles = {Profile{.name = "middle",
                                      .description = "m",
                                      .tools = {"Note"},
                                      .subagents = {"*"},
                                      .timeout = std::chrono::hours(48)}};
  }
  // Once the last of the four has noted something.
  void when_all_run(std::function<void(Runtime&)> act) {
    world.on_event = [this, act = std::move(act)](Runtime& runtime, const Event& event) {
      if (std::holds_alternative<NoteTaken>(event.fact) && ++notes == 3) act(runtime);
    };
  }
  SessionId id_of(std::string_view label) const { return world.child(label).id; }
  // Where in the journal its run ended.
  std::size_t end_of(std::string_view label) const {
    const SessionId id = id_of(label);
    for (const Event& event : world.world.memory->journal) {
      if (event.run.session == id && std::holds_alternative<RunEnded>(event.fact)) return event.seq;
    }
    return 0;
  }
  DialogueWorld world;
  int notes = 0;
  std::vector<Scene> asked;  // what its models were
};

}  // namespace deputy
