// A child that goes on after its end: with its own time, its own limits and its own word in the approval.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "delegation/budget.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

Call task(std::string_view agent, std::string_view more = "") {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"{}}})", agent, more));
}
Call resume(const Scene& scene, std::string_view more = "") {
  return call_of("task",
                 fmt::format(R"({{"resume":"{}","prompt":"go on"{}}})", scene.value_of("Session: "), more));
}
// The root runs one child and then goes on with it; the child answers at once, and when it goes on after
// `thinks`.
ActingModel::Play two_runs(std::string agent, Duration thinks, std::string more = "",
                           std::string at_first = "") {
  return [=](const Scene& scene) -> Act {
    if (scene.depth > 0) {
      if (scene.is_told("go on")) return {.text = "more", .after = thinks};
      return {.text = "found"};
    }
    if (scene.step == 0) return {.calls = {task(agent, at_first)}};
    if (scene.step == 1) return {.calls = {resume(scene, more)}};
    return {.text = scene.news};
  };
}
Duration time_given(const Session& session, WallTime resumed_at) { return *session.deadline - resumed_at; }

WallTime began_again(const DialogueWorld& world) {
  for (const Event& event : world.world.memory->journal) {
    if (event.run.number == 2 && std::holds_alternative<RunStarted>(event.fact)) return event.at;
  }
  ADD_FAILURE() << "nothing was resumed";
  return {};
}

TEST(AResumedChild, WithoutALimitOnItsTimeHasNoneAgain) {
  DialogueWorld world(two_runs("endless", 10h));
  world.options.profiles = {{.name = "endless", .tools = {"Read"}, .timeout = kNoTimeout}};
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("endless").run, 2);
  EXPECT_EQ(world.child("endless").state, SessionState::completed);
  EXPECT_FALSE(world.child("endless").deadline);
}

TEST(AResumedChild, HasAgainAsLongAsItWasGiven) {
  for (const auto& [agent, at_first, more, time] :
       {std::tuple("explore", "", "", 3600s), std::tuple("explore", R"(,"timeout":42)", "", 42s),
        std::tuple("explore", R"(,"timeout":42)", R"(,"timeout":77)", 77s)}) {
    DialogueWorld world(two_runs(agent, 1s, more, at_first));
    ASSERT_TRUE(world.run());
    const Session child = world.child("explore");
    ASSERT_TRUE(child.deadline) << at_first << more;
    EXPECT_EQ(time_given(child, began_again(world)), time);
  }
  DialogueWorld world(two_runs("explore", 1s, R"(,"timeout":"none")"));
  ASSERT_TRUE(world.run());
  EXPECT_FALSE(world.child("explore").deadline);
}

TEST(AResumedChild, IsRefusedWhereTheTreeHasNoRoomForAllThatWasSaid) {
  const auto play = [](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .usage = {.input = 50'000, .output = 10, .cost_micros = 0}};
    Act act{.text = "over", .usage = {.input = 10, .output = 1, .cost_micros = 0}};
    if (scene.step == 0) act.calls = {task("explore")};
    if (scene.step == 1) act.calls = {resume(scene)};
    return act;
  };
  for (const auto& [tokens, runs] : {std::pair(100'000, 1), std::pair(300'000, 2)}) {
    DialogueWorld world(play);
    world.options.limits.tokens = tokens;
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.child("explore").run, runs) << tokens;
    EXPECT_EQ(world.heard_by_root().contains("budget exhausted"), runs == 1) << world.heard_by_root();
  }
}

TEST(AResumedChild, IsRefusedWhereTheTreeHasNoRoomForWhatItIsToldToGoOnWith) {
  std::string prompt = "go on";
  for (int i = 0; i < 80'000; ++i) prompt += " word";
  const auto play = [&prompt](const Scene& scene) -> Act {
    const Usage little{.input = 10, .output = 1, .cost_micros = 0};
    if (scene.depth > 0) return {.text = "found", .usage = little};
    Act act{.text = "over", .usage = little};
    if (scene.step == 0) act.calls = {task("explore")};
    if (scene.step == 1)
      act.calls = {call_of(
          "task", fmt::format(R"({{"resume":"{}","prompt":"{}"}})", scene.value_of("Session: "), prompt))};
    return act;
  };
  // The root's next request holds that prompt as well.
  for (const auto& [tokens, runs] : {std::pair(90'000, 1), std::pair(2'000'000, 2)}) {
    DialogueWorld world(play);
    world.options.limits.tokens = tokens;
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.child("explore").run, runs) << tokens;
  }
}

TEST(AResumedChild, IsEndedWhenThatTimeIsUp) {
  DialogueWorld world(two_runs("explore", 2h));
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("explore").run, 2);
  EXPECT_EQ(world.child("explore").reason, Reason::timeout);
}

TEST(AResumedChild, TakesALowerCapOnStepsForThatRunAndNeverAHigherOne) {
  const auto steps_of_second_run = [](std::string_view more, bool dies = false) {
    const auto play = [=](const Scene& scene) -> Act {
      if (scene.depth > 0) {
        const bool is_first = !scene.heard.contains("go on");
        if (is_first || scene.is_told("last step")) return {.text = "said"};
        return {.calls = {call_of("Glob", fmt::format(R"({{"pattern":"{}*"}})", scene.step))}, .after = 1s};
      }
      if (scene.step == 0) return {.calls = {task("explore")}};
      if (scene.step == 1) return {.calls = {resume(scene, more)}};
      return {.text = "over"};
    };
    DialogueWorld world(play);
    int calls = 0;
    if (dies) {
      world.on_event = [&calls](Runtime& runtime, const Event& event) {
        const auto* started = std::get_if<CallStarted>(&event.fact);
        if (started && started->tool == "Glob" && ++calls == 2) runtime.cancel(StopReason::shutdown);
      };
      EXPECT_FALSE(world.run());
      world.on_event = {};
      EXPECT_TRUE(world.resume(2));
    } else {
      EXPECT_TRUE(world.run());
    }
    EXPECT_EQ(world.child("explore").reason, Reason::max_turns);
    EXPECT_EQ(world.child("explore").max_turns, 15) << "its own cap stays";
    return world.child("explore").steps - 1;
  };
  EXPECT_EQ(steps_of_second_run(R"(,"max_turns":3)"), 3 + 1) << "and the last one to report in";
  EXPECT_EQ(steps_of_second_run(R"(,"max_turns":99)"), 15 + 1);
  EXPECT_EQ(steps_of_second_run(""), 15 + 1);
  EXPECT_EQ(steps_of_second_run(R"(,"max_turns":4)", true), 4 + 1) << "it is on record";
}

TEST(AResumedChild, TheApprovalNamesItsAgentAndItsModel) {
  DialogueWorld world(two_runs("odd", 1s));
  world.options.profiles = {{.name = "odd", .tools = {"Read"}, .model = ModelName("acting/own")}};
  world.options.attendance = Attendance::person;
  world.rules = Rules();
  std::vector<std::string> asked;
  world.on_question = [&asked](Runtime& runtime, const Question& question) {
    asked.push_back(question.text);
    runtime.answer(question.id, {AnswerKind::approved, ""});
  };
  ASSERT_TRUE(world.run());
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_THAT(asked[0], AllOf(HasSubstr("Spawn 1 subagent: [odd] look"), HasSubstr("model acting/own")));
  EXPECT_THAT(asked[1], AllOf(HasSubstr("Resume 1 subagent: [odd] go on"), HasSubstr("model acting/own")));
}

TEST(ResumedChildSimulation, OfTwoCallsOfOneReplyOneResumesItAndTheOtherIsRefused) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found"};
      if (scene.step == 0) return {.calls = {task("explore")}};
      if (scene.step == 1) return {.calls = {resume(scene), resume(scene)}};
      return {.text = "over"};
    });
    world.options.seed = seed;
    ASSERT_TRUE(world.run()) << seed;
    const auto results = world.results_of("task");
    ASSERT_EQ(results.size(), 3u) << seed;
    const auto count = [&results](std::string_view text) {
      return std::ranges::count_if(results, [text](const auto& result) { return result.contains(text); });
    };
    EXPECT_EQ(count("has not ended yet"), 1) << seed;
    EXPECT_EQ(count("found"), 2) << seed;
    EXPECT_EQ(world.child("explore").run, 2) << seed;
  }
}

TEST(ResumedChildSimulation, IsNotAdmittedOnceItsParentIsStopped) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    DialogueWorld world(two_runs("explore", 1s));
    world.on_event = [seed](Runtime& runtime, const Event& event) {
      const auto* reply = std::get_if<ReplyReceived>(&event.fact);
      const bool asks_for_it = reply && !reply->reply.message.calls.empty() &&
                               reply->reply.message.calls.front().arguments.contains("resume");
      const bool is_about_to = std::holds_alternative<Attached>(event.fact);
      if (seed % 2 == 0 ? asks_for_it : is_about_to) runtime.cancel(StopReason::user);
    };
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << seed;
    EXPECT_EQ(report->status, Status::cancelled) << seed;
    const bool was_between = !world.facts<Attached>().empty() && world.child("explore").run == 1;
    if (!was_between) continue;
    refused += 1;
    EXPECT_EQ(world.child("explore").state, SessionState::completed) << seed;
    EXPECT_EQ(used_by(world.world.memory->journal).delegations, 1) << seed;
  }
  EXPECT_GT(refused, 0) << "no stop came between: this proves nothing";
}

}  // namespace
}  // namespace deputy
