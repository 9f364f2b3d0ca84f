// One child breaks, in every way there is; its parent gets one typed report of it, and what its siblings
// report is to the byte what they report where nothing breaks.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <new>
#include <stdexcept>

#include "support/acting_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

enum class Breaks { never, throws, runs_out_of_memory, tool_crashes, tool_is_not_there, tool_throws };

// By agent: the children as the parent was told of them, each as often as it was.
using Told = std::map<std::string, std::vector<std::string>>;

Act play(const Scene& scene, Breaks how) {
  if (scene.depth == 0) {
    if (scene.step > 0) return {.text = "over"};
    Act act;
    for (const char* agent : {"explore", "general", "planner", "researcher"})
      act.calls.push_back(call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"}})", agent)));
    return act;
  }
  if (scene.agent != "general") {
    if (scene.step == 0) return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}, .after = 3s};
    return {.text = scene.agent + " found " + scene.news, .after = 3s};
  }
  if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"make"})")}, .after = 4s};
  if (how == Breaks::throws)
    return {.throws = std::make_exception_ptr(std::runtime_error("the play says so"))};
  if (how == Breaks::runs_out_of_memory) return {.throws = std::make_exception_ptr(std::bad_alloc())};
  return {.text = "made: " + scene.news};
}

Told told_where(Breaks how, std::uint64_t seed) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  Life::Options options{.seed = seed};
  options.model = [how](Loop& loop) {
    return std::make_unique<ActingModel>(loop, [how](const Scene& scene) { return play(scene, how); });
  };
  Life life(world, std::move(options));
  if (how != Breaks::tool_is_not_there) {
    life.processes().define("bash", [how](const ProcessSpec&) {
      if (how == Breaks::tool_throws) throw std::runtime_error("the program says so");
      return ProcessResult{.exit_status = how == Breaks::tool_crashes ? 128 + 11 : 0};
    });
  }
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  root.rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
  const auto report = life.start(std::move(root));
  EXPECT_TRUE(report && report->status == Status::completed);
  Told told;
  for (const Event& event : world.memory->journal) {
    const auto* result = std::get_if<CallFinished>(&event.fact);
    if (!result || world.memory->sessions.at(event.run.session).depth > 0) continue;
    const std::string& text = result->result.content;
    const std::size_t at = text.find('(') + 1;
    told[text.substr(at, text.find(')') - at)].push_back(text);
  }
  for (const Session& session : world.sessions())
    EXPECT_EQ(world.terminal_records(session.id), 1) << session.label;
  return told;
}

class IsolationSimulation : public testing::TestWithParam<std::pair<Breaks, const char*>> {};

TEST_P(IsolationSimulation, AChildThatBreaksIsOneTypedReportAndChangesNoneOfItsSiblings) {
  const auto& [how, says] = GetParam();
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    Told undisturbed = told_where(Breaks::never, seed);
    Told told = told_where(how, seed);
    ASSERT_EQ(undisturbed.size(), 4u) << "seed " << seed;
    ASSERT_EQ(told["general"].size(), 1u) << "seed " << seed;
    ASSERT_THAT(told["general"][0], HasSubstr(says)) << "seed " << seed;
    ASSERT_NE(told["general"], undisturbed["general"]) << "else nothing broke";
    told.erase("general");
    undisturbed.erase("general");
    ASSERT_EQ(told, undisturbed) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, IsolationSimulation,
                         testing::Values(std::pair(Breaks::throws, "a bug in deputy: the play says so"),
                                         std::pair(Breaks::runs_out_of_memory, "out of memory"),
                                         std::pair(Breaks::tool_crashes, "139"),
                                         std::pair(Breaks::tool_is_not_there, "Status: "),
                                         std::pair(Breaks::tool_throws, "the program says so")));

}  // namespace
}  // namespace deputy
