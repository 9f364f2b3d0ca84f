// Stops that stop: one session, a subtree, everything; from the person, from the parent, in any order.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "a_tree_to_stop.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(Cancel, OfOneSessionLeavesTheOthersAlone) {
  when_all_run([this](Runtime& runtime) { runtime.cancel(id_of("explore"), StopReason::user); });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(world.child("explore").reason, Reason::cancelled_by_user);
  for (const auto* other : {"middle", "planner", "researcher"})
    EXPECT_EQ(world.child(other).state, SessionState::completed) << other;
}

TEST_F(Cancel, OfASubtreeEndsChildrenFirstAndLeavesItsSiblingsAlone) {
  when_all_run([this](Runtime& runtime) { runtime.cancel(id_of("middle"), StopReason::user); });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  for (const auto* stopped : {"middle", "planner", "researcher"})
    EXPECT_EQ(world.child(stopped).reason, Reason::cancelled_by_user) << stopped;
  EXPECT_LT(end_of("planner"), end_of("middle"));
  EXPECT_LT(end_of("researcher"), end_of("middle"));
  EXPECT_EQ(world.child("explore").state, SessionState::completed);
}

TEST_F(Cancel, OfEverythingKeepsWhatThereIsAndGivesEachItsOneEnd) {
  when_all_run([](Runtime& runtime) { runtime.cancel(StopReason::user); });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::cancelled_by_user);
  for (const auto& session : world.sessions())
    EXPECT_EQ(world.world.terminal_records(session.id), 1) << session.label;
  EXPECT_THAT(world.child("explore").result, HasSubstr("noted by explore"));
  EXPECT_LT(end_of("planner"), end_of("middle"));
  EXPECT_LT(end_of("middle"), end_of("root"));
}

// main → general, explore, middle → planner, researcher, each started when the one before it was; general
// says when all others think. Returns who was told to stop, in the order in which they were.
std::vector<std::string> stops_where(std::uint64_t seed,
                                     const std::function<void(DialogueWorld&, Runtime&)>& act,
                                     bool root_fails = false) {
  std::vector<std::string> told;
  DialogueWorld world([&told, root_fails](const Scene& scene) -> Act {
    const auto starts = scene.depth == 0          ? std::vector{"general", "explore", "middle"}
                        : scene.agent == "middle" ? std::vector{"planner", "researcher"}
                                                  : std::vector<const char*>{};
    const auto step = static_cast<std::size_t>(scene.step);
    if (step < starts.size()) return {.calls = {beside(starts[step])}};
    if (scene.agent == "general") {
      if (step == 0) return {.calls = {call_of("Note", R"({"content":"now"})")}, .after = 5s};
      return {.text = "noted"};
    }
    if (scene.depth == 0 && root_fails) return {.after = 10s, .ends_as = ReplyStop::failed};
    return {.text = "found", .after = 20min, .on_stop = [&told, who = scene.agent] { told.push_back(who); }};
  });
  world.options.seed = seed;
  world.options.profiles = {
      Profile{.name = "middle", .description = "m", .tools = {"Note"}, .subagents = {"*"}, .timeout = 48h}};
  world.on_event = [&](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<NoteTaken>(event.fact)) act(world, runtime);
  };
  EXPECT_TRUE(world.run());
  world.expect_sound("");
  return told;
}

TEST(CancelSimulation, TellsTheLastStartedFirstAndChildrenBeforeTheirParents) {
  in_many_orders([](std::uint64_t seed) {
    EXPECT_THAT(stops_where(seed, [](auto&, Runtime& runtime) { runtime.cancel(StopReason::user); }),
                testing::ElementsAre("researcher", "planner", "middle", "explore", "main"));
    EXPECT_THAT(stops_where(seed,
                            [](DialogueWorld& world, Runtime& runtime) {
                              runtime.cancel(world.child("middle").id, StopReason::user);
                            }),
                testing::ElementsAre("researcher", "planner", "middle"));
    EXPECT_THAT(stops_where(
                    seed, [](auto&, Runtime&) {}, true),
                testing::ElementsAre("researcher", "planner", "middle", "explore"))
        << "where their parent ends";
  });
}

// A child that notes something and is then in the middle of a long answer; its parent stops it after a
// minute.
Act stopped_in_its_answer(const Scene& scene) {
  if (scene.depth == 0) {
    if (scene.step == 0) return {.calls = {beside("explore")}};
    if (scene.step > 1) return {.text = "done"};
    const std::string id = scene.value_of("id: ");
    return {.calls = {call_of("task_cancel", fmt::format(R"({{"id":"{}"}})", id))}, .after = 1min};
  }
  if (scene.step == 0) return {.calls = {call_of("Note", R"({"content":"noted"})")}};
  return {.text = "never said", .after = 20min, .streamed = "half of the answer"};
}

TEST(AStop, InTheMiddleOfAnAnswerKeepsTheNotesAndTheTextSoFar) {
  DialogueWorld world(stopped_in_its_answer);
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("explore").state, SessionState::cancelled);
  EXPECT_EQ(world.child("explore").result, "noted\n\nhalf of the answer");
  EXPECT_THAT(world.results_of("task_cancel").at(0), HasSubstr("half of the answer"));
  EXPECT_THAT(world.world.transcript("explore"), HasSubstr("half of the answer"));
}

TEST(AStop, AtADeadlineTheLastStepFollowsOnTheTextSoFar) {
  for (const bool is_answered : {true, false}) {
    DialogueWorld world([is_answered](const Scene& scene) -> Act {
      if (scene.depth == 0 && scene.step > 0) return {.text = "done"};
      if (scene.depth == 0)
        return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look","timeout":60})")}};
      if (scene.is_told("your last step") && is_answered) return {.text = "the other half"};
      if (scene.is_told("your last step")) return {.text = "never said", .after = 20min, .streamed = "and"};
      return {.text = "never said", .after = 20min, .streamed = "half of the answer"};
    });
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.child("explore").reason, Reason::timeout);
    EXPECT_EQ(world.child("explore").result,
              is_answered ? "half of the answer\n\nthe other half" : "half of the answer\n\nand");
    EXPECT_THAT(world.world.transcript("explore"), HasSubstr("half of the answer"));
  }
}

TEST(AStop, KeepsTheLastWholeTextBeforeTheOneThatBrokeOff) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0) return stopped_in_its_answer(scene);
    const Call glob = call_of("Glob", R"({"pattern":"*"})");
    if (scene.step == 0) return {.text = "I look.", .calls = {glob}};
    if (scene.step == 1) return {.text = "The fault is in cart.py:12.", .calls = {glob}};
    return {.text = "never said", .after = 20min, .streamed = "Now"};
  });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("explore").state, SessionState::cancelled);
  EXPECT_EQ(world.child("explore").result, "The fault is in cart.py:12.\n\nNow");
}

// Of an answer in the tongue of the played server, up to where it breaks off behind `text`.
SimExchange broken_off_after(std::string text, SimFault fault) {
  SimExchange answer = answer_in(Tongue::anthropic, {.text = text});
  answer.fault = fault;
  answer.fault_after = answer.chunks.at(0).bytes.find(text) + text.size() + 20;
  return answer;
}

TEST(AStop, BetweenTwoAttemptsKeepsWhatTheFirstHadSaid) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0) return stopped_in_its_answer(scene);
    return {.http = {broken_off_after("half of the answer", SimFault::cut), {.fault = SimFault::silence}}};
  });
  ASSERT_TRUE(world.run());
  EXPECT_FALSE(world.facts<Retried>().empty());
  EXPECT_EQ(world.child("explore").state, SessionState::cancelled);
  EXPECT_EQ(world.child("explore").result, "half of the answer");
}

TEST_F(Cancel, TwiceIsHarmless) {
  when_all_run([this](Runtime& runtime) {
    for (int i = 0; i < 2; ++i) runtime.cancel(id_of("middle"), StopReason::user);
    runtime.cancel(StopReason::user);
    runtime.cancel(StopReason::user);
    runtime.cancel(id_of("middle"), StopReason::user);
  });
  ASSERT_TRUE(world.run());
  for (const auto& session : world.sessions())
    EXPECT_EQ(world.world.terminal_records(session.id), 1) << session.label;
}

// By the tool twice in one reply, and once more when it has ended; by the person at the same time.
TEST(CancelSimulation, OfAChildByItsParentAndByThePersonAndAgainIsOneEnd) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      const auto cancel = [&scene] {
        return call_of("task_cancel", fmt::format(R"({{"id":"{}"}})", scene.value_of("id: ")));
      };
      if (scene.depth > 0 && scene.step == 0)
        return {.calls = {call_of("Note", R"({"content":"noted"})")}, .after = 1s};
      if (scene.depth > 0) return {.text = "late", .after = 20min};
      if (scene.step == 0) return {.calls = {beside("explore")}};
      if (scene.step == 1) return {.calls = {cancel(), cancel()}, .after = 5s};
      if (scene.step == 2) return {.calls = {cancel()}};
      return {.text = "done"};
    });
    world.options.seed = seed;
    world.on_event = [&world](Runtime& runtime, const Event& event) {
      const auto* call = std::get_if<CallStarted>(&event.fact);
      if (call && call->tool == "task_cancel") runtime.cancel(world.child("explore").id, StopReason::user);
    };
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, Status::completed) << "its parent goes on";
    EXPECT_EQ(world.terminal_records("explore"), 1);
    EXPECT_EQ(world.child("explore").state, SessionState::cancelled);
    const auto told = world.results_of("task_cancel");
    ASSERT_EQ(told.size(), 3u);
    for (const auto& each : told)
      EXPECT_THAT(each, AllOf(HasSubstr("Status: cancelled"), HasSubstr("noted"))) << "what there is is kept";
    world.expect_sound("");
  });
}

TEST_F(Cancel, OfASessionThatDoesNotRunDoesNothing) {
  when_all_run([](Runtime& runtime) {
    runtime.cancel(SessionId("sess_1800000000_zzzzzz"), StopReason::user);
    runtime.send_to_background(SessionId("sess_1800000000_zzzzzz"));
    runtime.nudge(SessionId("sess_1800000000_zzzzzz"), "hello");
  });
  const auto report = world.run();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::completed);
}

TEST(CancelSimulation, AtAnyEventEachSessionEndsOnceAndChildrenBeforeParents) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50) && !testing::Test::HasFailure(); ++seed) {
    DialogueWorld world(a_tree);
    world.options.seed = seed;
    world.options.profiles = {
        Profile{.name = "middle", .description = "m", .tools = {"Note"}, .subagents = {"*"}}};
    const auto at = seed * 7 % 40 + 1;
    std::uint64_t events = 0;
    world.on_event = [&](Runtime& runtime, const Event&) {
      if (++events == at) runtime.cancel(StopReason::user);
    };
    const std::string where = fmt::format("seed {}, after event {}", seed, at);
    ASSERT_TRUE(world.run()) << where;
    std::map<SessionId, std::uint64_t> ends;
    for (const Event& event : world.world.memory->journal) {
      if (std::holds_alternative<RunEnded>(event.fact)) ends[event.run.session] = event.seq;
    }
    for (const auto& session : world.sessions()) {
      EXPECT_EQ(world.world.terminal_records(session.id), 1) << session.label << " " << where;
      if (session.parent) EXPECT_LT(ends[session.id], ends[*session.parent]) << session.label << " " << where;
    }
    world.expect_sound(where);
  }
}

// Some are being told something, some note, some wait for their turn: whatever they do, all end.
Act a_crowd(const Scene& scene) {
  if (scene.depth == 0 && scene.step == 0) return {.calls = std::vector(64, beside("explore"))};
  if (scene.depth == 0) return {.text = "I wait.", .after = 1min};
  if (scene.step < 3) return {.calls = {call_of("Note", R"({"content":"noted"})")}, .after = 1ms};
  return {.text = "found", .after = 20min};
}

TEST(CancelSimulation, OfSixtyFourAtWorkEndsEachOnceAndASecondOneChangesNothing) {
  const auto seeds = std::min<std::uint64_t>(simulation_seeds(5), 100);  // each is a second's work
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    DialogueWorld world(a_crowd);
    world.options.seed = seed;
    world.options.limits.live_children = world.options.limits.live_sessions = 70;
    const auto at = 340 + seed * 37 % 500;
    std::uint64_t events = 0;
    world.on_event = [&](Runtime& runtime, const Event&) {
      ++events;
      if (events == at || events == at + 2) runtime.cancel(StopReason::user);
    };
    const auto report = world.run();
    ASSERT_TRUE(report) << seed;
    EXPECT_EQ(report->reason, Reason::cancelled_by_user) << seed;
    EXPECT_EQ(world.sessions().size(), 65u) << seed;
    for (const auto& session : world.sessions()) {
      EXPECT_EQ(world.world.terminal_records(session.id), 1) << "seed " << seed;
      EXPECT_EQ(session.state, SessionState::cancelled) << "seed " << seed;
    }
    world.expect_sound(fmt::format("seed {}", seed));
  }
}

}  // namespace
}  // namespace deputy
