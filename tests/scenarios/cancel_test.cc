// Stops that stop: one session, a subtree, everything; from the person, from another process, in any order.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

Call beside(std::string_view agent) {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look","run_in_background":true}})", agent));
}

// main → explore, middle → planner, researcher: all of them note something and then think for a while.
Act a_tree(const Scene& scene) {
  if (scene.step == 0 && scene.depth == 0) return {.calls = {beside("explore"), beside("middle")}};
  if (scene.step == 0 && scene.agent == "middle") return {.calls = {beside("planner"), beside("researcher")}};
  if (scene.step == 0)
    return {.calls = {call_of("Note", fmt::format(R"({{"content":"noted by {}"}})", scene.agent))}};
  if (scene.depth == 0 && scene.times_heard("## Subagent Result") < 2) return {.text = "I wait."};
  if (scene.depth == 0) return {.text = "done"};
  if (scene.agent == "middle" && scene.times_heard("## Subagent Result") < 2) return {.text = "I wait."};
  return {.text = "found", .after = 20min};
}

class Cancel : public testing::Test {
 protected:
  Cancel()
      : world([this](const Scene& scene) {
          asked.push_back(scene);
          return a_tree(scene);
        }) {
    world.options.profiles = {
        Profile{.name = "middle", .description = "m", .tools = {"Note"}, .subagents = {"*"}, .timeout = 48h}};
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

// Another process on the same data.
class Inbox : public Cancel {
 protected:
  Inbox() { world.options.inbox_every = 80ms; }
  void post(LetterKind kind, std::string_view label, std::string text = {}) {
    MemoryStore other(other_loop, world.world.memory);
    const Session session = world.child(label);
    posted = world.world.memory->journal.back().at;
    ASSERT_TRUE(
        other.post({.tree = session.tree, .session = session.id, .kind = kind, .text = std::move(text)}));
  }
  SimLoop other_loop{1};
  WallTime posted{};
};

TEST_F(Inbox, ACancelIsActedOnWithin200Milliseconds) {
  when_all_run([this](Runtime&) { post(LetterKind::cancel, "middle"); });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("middle").reason, Reason::cancelled_by_user);
  EXPECT_EQ(world.child("explore").state, SessionState::completed);
  EXPECT_LE(*world.child("middle").ended_at - posted, 200ms);
  EXPECT_TRUE(world.world.memory->inbox.empty());
}

TEST_F(Inbox, ANudgeReachesTheSessionAsThePersons) {
  when_all_run([this](Runtime&) { post(LetterKind::nudge, "root", "be brief"); });
  ASSERT_TRUE(world.run());
  EXPECT_THAT(world.heard_by_root(), HasSubstr("[A message from the person]\nbe brief"));
  EXPECT_TRUE(world.world.memory->inbox.empty());
}

TEST_F(Inbox, ALetterWithoutAHolderWaitsForTheResume) {
  when_all_run([](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
  EXPECT_FALSE(world.run());
  post(LetterKind::nudge, "root", "be brief");
  post(LetterKind::cancel, "explore");
  const auto report = world.resume(99);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(world.child("explore").reason, Reason::cancelled_by_user);
  EXPECT_THAT(world.heard_by_root(), HasSubstr("be brief"));
  EXPECT_TRUE(world.world.memory->inbox.empty());
}

TEST_F(Inbox, ACancelOfATreeThatNobodyRunsEndsItAndAsksNoModel) {
  when_all_run([](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
  EXPECT_FALSE(world.run());
  post(LetterKind::cancel, "root");
  asked.clear();
  const auto report = world.resume(99);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::cancelled_by_user);
  EXPECT_TRUE(asked.empty()) << asked.front().label;
  EXPECT_EQ(world.sessions().size(), 5u);
  for (const auto& session : world.sessions())
    EXPECT_EQ(world.world.terminal_records(session.id), 1) << session.label;
  EXPECT_TRUE(world.world.memory->inbox.empty());
}

TEST_F(Inbox, ACancelOfAChildThatNobodyRunsEndsItBeforeItsModelIsAsked) {
  when_all_run([](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
  EXPECT_FALSE(world.run());
  post(LetterKind::cancel, "middle");
  asked.clear();
  const auto report = world.resume(99);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(world.child("middle").reason, Reason::cancelled_by_user);
  EXPECT_EQ(world.child("explore").state, SessionState::completed);
  for (const auto* stopped : {"middle", "planner", "researcher"}) {
    EXPECT_EQ(std::ranges::count(asked, stopped, &Scene::label), 0) << stopped;
    EXPECT_EQ(world.terminal_records(stopped), 1) << stopped;
  }
}

TEST_F(Inbox, ANudgeOfATreeThatNobodyRunsIsInTheFirstRequest) {
  std::vector<Scene> thought;
  DialogueWorld thinker([&thought](const Scene& scene) -> Act {
    thought.push_back(scene);
    return {.text = "said", .after = 20min};
  });
  thinker.options.inbox_every = 80ms;
  thinker.on_event = [](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<InputGiven>(event.fact)) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(thinker.run());
  const SessionId root = thinker.sessions().front().id;
  MemoryStore other(other_loop, thinker.world.memory);
  ASSERT_TRUE(other.post({.tree = root, .session = root, .kind = LetterKind::nudge, .text = "be brief"}));
  thought.clear();
  ASSERT_TRUE(thinker.resume(99));
  ASSERT_EQ(thought.size(), 1u) << "it has said all when it is asked once";
  EXPECT_THAT(thought.front().news, HasSubstr("be brief"));
  EXPECT_EQ(thinker.facts<Nudged>().size(), 1u);
  EXPECT_TRUE(thinker.world.memory->inbox.empty());
}

TEST_F(Inbox, AnAnswerToAChildThatNobodyRunsIsHeardHoweverLateAndBeforeItsParentIsAsked) {
  for (const Duration away : {Duration(1min), Duration(1h)}) {  // it was to be answered within ten minutes
    bool was_parent_asked = false;
    DialogueWorld asker([&was_parent_asked](const Scene& scene) -> Act {
      if (scene.depth > 0 && scene.step == 0)
        return {.calls = {call_of("ask_parent", R"({"question":"Which one?"})")}};
      if (scene.depth > 0) return {.text = "It took: " + scene.news, .after = 1s};
      if (scene.step == 0)
        return {.calls = {call_of("spawn_subagent", R"({"agent":"explore","task":"look"})")}};
      was_parent_asked |= scene.is_told("state: question");
      return {.text = "done"};
    });
    asker.options.inbox_every = 80ms;
    asker.on_event = [](Runtime& runtime, const Event& event) {
      if (std::holds_alternative<QuestionAsked>(event.fact)) runtime.cancel(StopReason::shutdown);
    };
    EXPECT_FALSE(asker.run());
    asker.on_event = {};
    const auto questions = asker.facts<QuestionAsked>();
    ASSERT_EQ(questions.size(), 1u);
    const Session child = asker.child("explore");
    MemoryStore other(other_loop, asker.world.memory);
    ASSERT_TRUE(other.post({.tree = child.tree,
                            .session = child.id,
                            .kind = LetterKind::answer,
                            .text = "blue",
                            .question = questions[0].question.id}));
    asker.away = away;
    const auto report = asker.resume(99);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(asker.results_of("ask_parent"), testing::ElementsAre(HasSubstr("The person answers: blue")));
    EXPECT_FALSE(was_parent_asked);
    EXPECT_TRUE(asker.world.memory->inbox.empty());
  }
}

// Whoever acted on it died before it could be discarded.
TEST_F(Inbox, ACancelOfARunThatHasEndedIsNotOneOfTheNext) {
  DialogueWorld thinker([](const Scene&) -> Act { return {.text = "said", .after = 20min}; });
  thinker.options.inbox_every = 80ms;
  ASSERT_TRUE(thinker.run());
  const SessionId root = thinker.sessions().front().id;
  MemoryStore other(other_loop, thinker.world.memory);
  ASSERT_TRUE(other.post({.tree = root, .session = root, .kind = LetterKind::cancel}));
  const auto report = thinker.say("and now?");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_TRUE(thinker.world.memory->inbox.empty());
}

TEST(InboxSimulation, ANudgeIsReadOnceThroughACrashAtEveryRecord) {
  const auto play = [](const Scene& scene) -> Act {
    if (scene.step < 3) return {.calls = {call_of("Note", R"({"content":"n"})")}, .after = 100ms};
    return {.text = "heard: " + scene.heard};
  };
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    for (int record = 1;; ++record) {
      const std::string where = fmt::format("seed {}, record {}", seed, record);
      DialogueWorld world(play);
      world.options.seed = seed;
      world.options.inbox_every = 80ms;
      world.options.crash = {record, seed % 2 == 0};
      bool posted = false;
      SimLoop other_loop{1};
      world.on_event = [&](Runtime&, const Event& event) {
        if (std::exchange(posted, true)) return;
        MemoryStore other(other_loop, world.world.memory);
        (void)other.post(
            {.tree = event.tree, .session = event.tree, .kind = LetterKind::nudge, .text = "be brief"});
      };
      const auto report = world.run_through_crash();
      if (!report) break;
      if (world.sessions().empty()) continue;
      ASSERT_TRUE(*report) << where << ": " << report->error().message;
      const auto& body = (*report)->body;
      ASSERT_EQ(body.find("be brief"), body.rfind("be brief")) << where;
      ASSERT_THAT(body, HasSubstr("be brief")) << where;
      ASSERT_EQ(world.facts<Nudged>().size(), 1u) << where;
    }
  }
}

// Also where the process died between the answer and its record, and where nobody is there any more who was
// there when it asked.
TEST(InboxSimulation, AnAnswerIsToItsQuestionAloneThroughACrashAtEveryRecord) {
  const auto play = [](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("ask_user", R"({"question":"first?"})")}};
    if (scene.step == 1) return {.calls = {call_of("ask_user", R"({"question":"second?"})")}};
    return {.text = "heard: " + scene.heard};
  };
  int crashes = 0;
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    for (int record = 1;; ++record) {
      const std::string where = fmt::format("seed {}, record {}", seed, record);
      DialogueWorld world(play);
      world.options.seed = seed;
      world.options.attendance = Attendance::person;
      world.options.inbox_every = 80ms;
      world.options.crash = {record, seed % 2 == 0};
      std::set<std::string> written;
      SimLoop other_loop{1};
      world.on_event = [&](Runtime&, const Event& event) {
        const auto* asked = std::get_if<QuestionAsked>(&event.fact);
        if (!asked || !written.insert(asked->question.id).second) return;
        MemoryStore other(other_loop, world.world.memory);
        (void)other.post({.tree = event.tree,
                          .session = event.run.session,
                          .kind = LetterKind::answer,
                          .text = asked->question.text.contains("first?") ? "blue" : "red",
                          .question = asked->question.id});
      };
      const auto report = world.run_through_crash();
      if (!report) break;
      ++crashes;
      if (world.sessions().empty()) continue;
      ASSERT_TRUE(*report) << where << ": " << report->error().message;
      std::vector<std::string> answers;
      for (const auto& answered : world.facts<QuestionAnswered>()) answers.push_back(answered.answer.text);
      ASSERT_THAT(answers, testing::ElementsAre("blue", "red")) << where;
      ASSERT_TRUE(world.world.memory->inbox.empty()) << where;
    }
  }
  EXPECT_GT(crashes, 3);
}

}  // namespace
}  // namespace deputy
