// What another process says to a tree: it is acted on soon, once, and also where nobody runs the tree.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "a_tree_to_stop.h"
#include "app/letters.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

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

// It was asked whether it may run a child, and goes on where there may be none.
TEST_F(Inbox, WhatIsRefusedAtTheResumeTakesNoAnswerFromWhatIsAskedNext) {
  DialogueWorld asker([](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look"})")}};
    if (scene.step == 1) return {.calls = {call_of("ask_user", R"({"question":"What then?"})")}};
    return {.text = "heard: " + scene.heard};
  });
  asker.rules = {};
  asker.options.attendance = Attendance::person;
  asker.options.inbox_every = 80ms;
  asker.on_event = [](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<QuestionAsked>(event.fact)) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(asker.run());
  const auto before = open_questions(asker.world.memory->journal);
  ASSERT_EQ(before.size(), 1u);
  ASSERT_EQ(before[0].kind, QuestionKind::permission);
  MemoryStore other(other_loop, asker.world.memory);
  const auto answer = [&other](const Question& question, std::string text) {
    EXPECT_TRUE(other.post({.tree = question.asker,
                            .session = question.asker,
                            .kind = LetterKind::answer,
                            .text = std::move(text),
                            .question = question.id}));
  };
  answer(before[0], "yes");
  asker.on_event = [&](Runtime&, const Event& event) {
    if (!std::holds_alternative<QuestionAsked>(event.fact)) return;
    const auto open = open_questions(asker.world.memory->journal);
    ASSERT_EQ(open.size(), 1u);
    EXPECT_NE(open[0].id, before[0].id);
    answer(open[0], "blue");
  };
  const auto report = asker.resume(99, TreeLimits{.delegations = 0});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(asker.heard_by_root(), HasSubstr("--max-delegations"));
  const auto answers = asker.facts<QuestionAnswered>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer.text, "blue");
  EXPECT_TRUE(asker.world.memory->inbox.empty()) << "the one that came too late as well";
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
