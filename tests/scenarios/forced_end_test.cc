// A session that is stopped and does not end: its end is recorded for it, and nothing waits any longer.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

Call task(std::string_view agent, std::string_view more = "") {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"{}}})", agent, more));
}

// When it notes something, whoever does not hear has begun not to.
Act a_moment_later(const Scene& scene) {
  if (scene.step == 0) return {.calls = {call_of("Note", R"({"content":"now"})")}, .after = 5s};
  return {.text = "planned", .after = 30s};
}

// main → middle → explore, which notes something and then hears no stop; beside it planner, which does.
Act deaf_below(const Scene& scene) {
  if (scene.agent == "explore" && scene.step == 0)
    return {.calls = {call_of("Note", R"({"content":"noted"})")}};
  if (scene.agent == "explore") return {.text = "said too late", .after = 1h, .is_deaf = true};
  if (scene.agent == "planner") return a_moment_later(scene);
  if (scene.step > 0) return {.text = "over"};
  if (scene.agent == "middle") return {.calls = {task("explore")}};
  return {.calls = {task("middle"), task("planner")}};
}

class ForcedEnd : public testing::Test {
 protected:
  explicit ForcedEnd(ActingModel::Play play = deaf_below) : world(std::move(play)) {
    world.options.profiles = {
        Profile{.name = "middle", .description = "m", .subagents = {"*"}, .timeout = 48h}};
  }
  void when_noted(std::function<void(Runtime&)> act) { when_noted(world, std::move(act)); }
  void when_noted(DialogueWorld& in, std::function<void(Runtime&)> act) {
    in.on_event = [this, act = std::move(act)](Runtime& runtime, const Event& event) {
      const auto* note = std::get_if<NoteTaken>(&event.fact);
      if (!note || note->content != "now") return;
      stopped_at = event.at;
      act(runtime);
    };
  }
  std::chrono::duration<double> ended_after(std::string_view label) const {
    return *world.child(label).ended_at - stopped_at;
  }
  bool is_forced(std::string_view label) const {
    for (const Event& event : world.world.memory->journal) {
      const auto* end = std::get_if<RunEnded>(&event.fact);
      if (end && event.run.session == world.child(label).id)
        return std::ranges::find(end->report->errors, "FORCED", &ReportedError::code) !=
               end->report->errors.end();
    }
    return false;
  }
  std::vector<std::string> ends() const {
    std::vector<std::string> labels;
    for (const Event& event : world.world.memory->journal) {
      if (std::holds_alternative<RunEnded>(event.fact))
        labels.push_back(world.world.memory->sessions.at(event.run.session).label);
    }
    return labels;
  }
  DialogueWorld world;
  WallTime stopped_at{};
};

TEST_F(ForcedEnd, ComesTenSecondsAfterTheStopAndKeepsWhatThereIs) {
  when_noted([this](Runtime& runtime) { runtime.cancel(world.child("explore").id, StopReason::user); });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << "a child's end is not its parent's";
  const Session deaf = world.child("explore");
  EXPECT_EQ(deaf.state, SessionState::cancelled);
  EXPECT_EQ(deaf.reason, Reason::cancelled_by_user);
  EXPECT_THAT(deaf.result, HasSubstr("noted"));
  EXPECT_TRUE(is_forced("explore"));
  EXPECT_DOUBLE_EQ(ended_after("explore").count(), 10);
  EXPECT_LT(ended_after("middle"), 11s);
  EXPECT_EQ(world.child("planner").result, "planned");
  world.expect_sound("");
}

TEST_F(ForcedEnd, IsTheOnlyOneAndTheLastThatIsTakenOfIt) {
  when_noted([this](Runtime& runtime) { runtime.cancel(world.child("explore").id, StopReason::user); });
  ASSERT_TRUE(world.run());
  const SessionId deaf = world.child("explore").id;
  EXPECT_EQ(world.terminal_records("explore"), 1);
  const Event* last = nullptr;
  for (const Event& event : world.world.memory->journal) {
    if (event.run.session == deaf) last = &event;
  }
  ASSERT_TRUE(last);
  EXPECT_TRUE(std::holds_alternative<RunEnded>(last->fact)) << kind_of(last->fact);
}

TEST_F(ForcedEnd, OfAllComesFromBelow) {
  when_noted([](Runtime& runtime) { runtime.cancel(StopReason::user); });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::cancelled_by_user);
  EXPECT_THAT(ends(), ElementsAre("planner", "explore", "middle", "root"));
  EXPECT_LT(ended_after("planner"), 1s);
  EXPECT_DOUBLE_EQ(ended_after("explore").count(), 10);
  EXPECT_LT(ended_after("root"), 12s);
  EXPECT_TRUE(is_forced("explore"));
  EXPECT_FALSE(is_forced("middle")) << "it only waited for the one below it";
}

TEST_F(ForcedEnd, OfOneThatIsLeftToBeResumedRecordsNone) {
  when_noted([](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
  EXPECT_FALSE(world.run());
  EXPECT_THAT(ends(), SizeIs(0));
  world.on_event = [this](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<StateChanged>(event.fact))
      runtime.cancel(world.child("explore").id, StopReason::user);
  };
  ASSERT_TRUE(world.resume(2));
  world.expect_sound("after the restart");
}

TEST_F(ForcedEnd, OfTheRootEndsItsTree) {
  DialogueWorld alone([](const Scene& scene) -> Act {
    if (scene.depth > 0) return a_moment_later(scene);
    if (scene.step == 0) return {.calls = {task("planner", R"(,"run_in_background":true)")}};
    return {.text = "late", .after = 1h, .is_deaf = true};
  });
  when_noted(alone, [](Runtime& runtime) { runtime.cancel(StopReason::user); });
  const auto report = alone.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::cancelled_by_user);
  EXPECT_EQ(*alone.child("root").ended_at - stopped_at, 10s);
}

// At a limit of its own it has a step left to report in, which takes a minute at most.
TEST_F(ForcedEnd, ComesAfterTheGraceStepWhereItsTimeIsUp) {
  DialogueWorld late([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "late", .after = 1h, .is_deaf = true};
    if (scene.step > 0) return {.text = "over"};
    return {.calls = {task("explore", R"(,"timeout":5)")}};
  });
  const auto report = late.run();
  ASSERT_TRUE(report) << report.error().message;
  const Session child = late.child("explore");
  EXPECT_EQ(child.state, SessionState::partial);
  EXPECT_EQ(child.reason, Reason::timeout);
  EXPECT_EQ(*child.ended_at - *child.started_at, 5s + kGraceTime + kEndTime);
  late.expect_sound("");
}

// What its request came to is on no record, whatever its model still says: it has taken its step for good.
TEST_F(ForcedEnd, OfARequestTakesTheWholeOfWhatWasReservedForIt) {
  constexpr int kSteps = 5;
  DialogueWorld limited([](const Scene& scene) -> Act {
    if (scene.agent == "explore") return {.after = 3min, .is_deaf = true, .ends_as = ReplyStop::stopped};
    const Usage counted{.input = 1};
    if (scene.step == 0) return {.calls = {task("explore", R"(,"timeout":5)")}, .usage = counted};
    return {.calls = {call_of("Note", fmt::format(R"({{"content":"{}"}})", scene.step))},
            .after = 2min,
            .usage = counted};
  });
  limited.options.limits.steps = kSteps;
  const auto report = limited.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::budget);
  EXPECT_EQ(used_by(limited.world.memory->journal).steps, kSteps);
  const auto replies = limited.facts<ReplyReceived>();
  EXPECT_EQ(std::ranges::count(replies, 1, [](const ReplyReceived& of) { return of.reply.usage.input; }),
            kSteps - 1);
}

TEST_F(ForcedEnd, LeavesNothingThatCouldBeResumedBeforeItIsOver) {
  DialogueWorld again([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "late", .after = 1h, .is_deaf = true};
    if (scene.step == 0) return {.calls = {task("explore", R"(,"timeout":5)")}};
    if (scene.step == 1)
      return {.calls = {task("explore", fmt::format(R"(,"resume":"{}")", scene.value_of("Session: ")))}};
    return {.text = "over"};
  });
  ASSERT_TRUE(again.run());
  EXPECT_THAT(again.results_of("task").back(), HasSubstr("has not ended yet"));
}

// main → middle → deaf, each with a command beside it; deaf then hears no stop. Beside middle planner, which
// says when.
Act commands_beside_all(const Scene& scene) {
  if (scene.agent == "planner") return a_moment_later(scene);
  if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"serve","run_in_background":true})")}};
  if (scene.agent == "deaf") return {.text = "said too late", .after = 1h, .is_deaf = true};
  if (scene.step > 1) return {.text = "over"};
  if (scene.agent == "middle") return {.calls = {task("deaf")}};
  return {.calls = {task("middle"), task("planner")}};
}

// How many of the three ran on for so long as to come to their own end.
int commands_that_ran_on(std::function<void(DialogueWorld&)> prepare) {
  DialogueWorld world(commands_beside_all);
  world.options.profiles = {
      {.name = "middle",
       .tools = {"Bash", "Note"},
       .subagents = {"*"},
       .timeout = 48h,
       .workspace = WorkspaceMode::shared},
      {.name = "deaf", .tools = {"Bash", "Note"}, .timeout = 48h, .workspace = WorkspaceMode::shared}};
  world.rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
  int ran_on = 0;
  world.programs = [&ran_on](SimProcesses& processes) {
    const auto serve = [&ran_on](const ProcessSpec&) {
      ++ran_on;
      return ProcessResult{};
    };
    processes.define("bash", serve, 10s);
  };
  prepare(world);
  EXPECT_TRUE(world.run());
  world.expect_sound("");
  return ran_on;
}

void when_now(DialogueWorld& world, std::function<void(Runtime&)> act) {
  world.on_event = [act = std::move(act)](Runtime& runtime, const Event& event) {
    const auto* note = std::get_if<NoteTaken>(&event.fact);
    if (note && note->content == "now") act(runtime);
  };
}

// Five seconds into their ten, and five before the end of the one below them is forced.
TEST(AStopOfATree, EndsTheCommandsBesideAllItsSessionsAtOnce) {
  EXPECT_EQ(commands_that_ran_on([](DialogueWorld&) {}), 3) << "control";
  EXPECT_EQ(commands_that_ran_on([](DialogueWorld& world) {
              when_now(world, [](Runtime& runtime) { runtime.cancel(StopReason::user); });
            }),
            0);
}

TEST(AStopOfATree, EndsThemAlsoInASubtreeAlone) {
  EXPECT_EQ(commands_that_ran_on([](DialogueWorld& world) {
              when_now(world, [&world](Runtime& runtime) {
                runtime.cancel(world.child("middle").id, StopReason::user);
              });
            }),
            1)
      << "that of the root, which goes on";
}

// Nobody set a deadline for these, so the watchdog is what ends a wait for one.
TEST(AWaitForAReader, EndsAlsoWhereItsModelIsNeverHeardOfAgain) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.http = {SimExchange{.fault = SimFault::silence}}};
    if (scene.step > 0) return {.text = "over"};
    return {.calls = {call_of("Delegate", R"({"tasks":[{"label":"quiet","prompt":"look"}]})")}};
  });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  const Session quiet = world.child("quiet");
  EXPECT_FALSE(quiet.deadline);
  EXPECT_EQ(quiet.reason, Reason::stalled);
  EXPECT_LT(*quiet.ended_at - *quiet.started_at, 1h);
  world.expect_sound("");
}

// Nor do its steps go on for ever: each makes what it is told longer, and its window is what it is.
TEST(AWaitForAReader, EndsAlsoWhereItNeverComesToAnEndOfReading) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step > 0) return {.text = "over"};
    if (scene.depth == 0)
      return {.calls = {call_of("Delegate", R"({"tasks":[{"label":"avid","prompt":"look"}]})")}};
    return {.http = {answer_in(Tongue::anthropic,
                               {.calls = {{.id = "c",
                                           .name = "Read",
                                           .arguments = fmt::format(
                                               R"({{"file_path":"long.txt","offset":{}}})", scene.step + 1)}},
                                .input = static_cast<std::int64_t>(scene.heard.size() / 4)})}};
  });
  std::string text;
  for (int line = 0; line < 3000; ++line) text += fmt::format("line {} {}\n", line, std::string(40, 'x'));
  world.world.write_file("long.txt", text);
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  const Session avid = world.child("avid");
  EXPECT_FALSE(avid.deadline);
  EXPECT_EQ(avid.reason, Reason::context_exhausted);
  world.expect_sound("");
}

}  // namespace
}  // namespace deputy
