// spawn_subagent, ask_parent, answer_subagent: questions that cannot deadlock, on the whole runtime.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "support/acting_model.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kAsk = R"({"question":"Which one?","suggestions":["the red one","the blue one"]})";

Call spawn(std::string_view agent, std::string_view task = "do it") {
  return call_of("spawn_subagent", fmt::format(R"({{"agent":"{}","task":"{}"}})", agent, task));
}
Call answer(const std::string& question_id, std::string_view text) {
  return call_of("answer_subagent",
                 fmt::format(R"({{"question_id":"{}","answer":"{}"}})", question_id, text));
}

// The root spawns one child, answers what it asks, and repeats what it reports.
Act parent_that_answers(const Scene& scene) {
  if (scene.step == 0) return {.calls = {spawn("explore")}};
  if (scene.is_told("state: question"))
    return {
        .calls = {answer(scene.value_of("question_id: ", scene.times_heard("state: question") - 1), "red")}};
  return {.text = "It said: " + scene.news};
}
Act child_that_asks_once(const Scene& scene) {
  if (scene.step == 0) return {.calls = {call_of("ask_parent", std::string(kAsk))}};
  return {.text = "It took: " + scene.news};
}
Act one_question(const Scene& scene) {
  return scene.depth == 0 ? parent_that_answers(scene) : child_that_asks_once(scene);
}

TEST(Dialogue, AQuestionEndsTheCallWithATypedResultAndTheAnswerResumesTheChild) {
  DialogueWorld world(one_question);
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(world.results_of("spawn_subagent"),
              testing::ElementsAre(AllOf(HasSubstr("state: question"), HasSubstr("question_id: q_sess_"),
                                         HasSubstr("Which one?"), HasSubstr("- the red one"),
                                         HasSubstr("- the blue one"))));
  EXPECT_THAT(report->body, AllOf(HasSubstr("## Subagent Result (explore)"), HasSubstr("It took: "),
                                  HasSubstr("red"), HasSubstr("Questions: 1"), HasSubstr("Duration: ")));
  EXPECT_EQ(world.child("explore").state, SessionState::completed);
  const auto answers = world.facts<QuestionAnswered>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer, (Answer{AnswerKind::text, "red", Source::parent}));
}

// The question itself: that it is about to be asked becomes durable with it.
TEST(Dialogue, AQuestionIsWithTheParentAfterOneSync) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  Life::Options options;
  options.model = [](Loop& loop) { return std::make_unique<ActingModel>(loop, one_question); };
  Life life(world, std::move(options));
  std::optional<int> when_said;
  std::optional<int> when_told;
  life.runtime().subscribe([&](const Event& event, const EventOrigin& origin) {
    const auto* end = std::get_if<CallFinished>(&event.fact);
    if (origin.agent == "explore" && std::holds_alternative<ReplyReceived>(event.fact) && !when_said)
      when_said = life.records();
    if (origin.agent == "main" && end && end->result.content.contains("state: question"))
      when_told = life.records();
  });
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  root.rules = Rules({{Decision::allow, "spawn_subagent", ""}});
  ASSERT_TRUE(life.start(std::move(root)));
  ASSERT_TRUE(when_said && when_told);
  EXPECT_EQ(*when_told - *when_said, 1);
}

TEST(Dialogue, AnAgentsAnswerIsMarkedAsNoApprovalOfAPersons) {
  DialogueWorld world(one_question);
  ASSERT_TRUE(world.run());
  EXPECT_THAT(world.results_of("ask_parent"),
              testing::ElementsAre(HasSubstr("approves nothing that needs the person")));
}

TEST(DialogueSimulation, EachLevelPassesAQuestionOnByItsOwnChoiceUpToThePerson) {
  in_many_orders([](std::uint64_t seed) {
    const auto play = [](const Scene& scene) -> Act {
      const bool is_asked = scene.is_told("state: question");
      const std::string id = scene.value_of("question_id: ");
      if (scene.depth == 2) {
        if (scene.step == 0) return {.calls = {call_of("ask_parent", std::string(kAsk))}};
        return {.text = "leaf: " + scene.news};
      }
      const std::string up = scene.depth == 0 ? "ask_user" : "ask_parent";
      if (scene.step == 0) return {.calls = {spawn(scene.depth == 0 ? "middle" : "explore")}};
      if (scene.is_told("## Subagent Result")) return {.text = "up: " + scene.news};
      if (is_asked) return {.calls = {call_of(up, std::string(kAsk))}};
      if (scene.is_told("answers")) return {.calls = {answer(id, scene.is_told("green") ? "green" : "lost")}};
      return {.text = "up: " + scene.news};
    };
    DialogueWorld world(play);
    world.options.attendance = Attendance::person;
    world.options.profiles = {Profile{.name = "middle", .description = "m", .subagents = {"explore"}}};
    world.on_question = [](Runtime& runtime, const Question& question) {
      if (question.kind == QuestionKind::to_person) runtime.answer(question.id, {AnswerKind::text, "green"});
    };
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body, AllOf(HasSubstr("up: "), HasSubstr("leaf: "), HasSubstr("green")));
    EXPECT_EQ(world.facts<QuestionAsked>().size(), 3u);
    world.expect_sound("");
  });
}

TEST(Dialogue, AtTheRootWithNobodyThereTheAnswerIsAtOnceThatNobodyCan) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("ask_user", std::string(kAsk))}};
    return {.text = scene.news};
  });
  world.options.attendance = Attendance::nobody;
  const auto report = world.run();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->body, AllOf(HasSubstr("nobody can answer"), HasSubstr("best judgement")));
}

TEST(DialogueSimulation, AQuestionThatIsNotAnsweredInTimeEndsWithoutAnAnswer) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      if (scene.step == 1) return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = 11min};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(world.results_of("ask_parent"), testing::ElementsAre(HasSubstr("no answer: proceed")));
    EXPECT_EQ(world.child("explore").state, SessionState::completed);
    EXPECT_THAT(world.heard_by_root(), HasSubstr("It took: no answer"));
    world.expect_sound("");
  });
}

TEST(DialogueSimulation, AnAnswerJustInTimeIsTaken) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      if (scene.step == 1)
        return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = 10min - 1s};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    ASSERT_TRUE(world.run());
    EXPECT_THAT(world.results_of("ask_parent"), testing::ElementsAre(HasSubstr("red")));
    world.expect_sound("");
  });
}

// Asked at the start, left by a process that dies, and taken up four minutes later.
std::string answered_after_restart(Duration thinks) {
  DialogueWorld world([thinks](const Scene& scene) -> Act {
    if (scene.depth > 0) return child_that_asks_once(scene);
    if (scene.step == 0) return {.calls = {spawn("explore")}};
    if (scene.step == 1) return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = thinks};
    return {.text = scene.news};
  });
  world.on_event = [](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<QuestionAsked>(event.fact)) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  world.on_event = {};
  world.away = 4min;
  EXPECT_TRUE(world.resume(2));
  EXPECT_EQ(world.facts<QuestionAsked>().size(), 1u);
  const auto told = world.results_of("ask_parent");
  EXPECT_EQ(told.size(), 1u);
  return told.empty() ? "" : told[0];
}

TEST(Dialogue, TheTimeForAnAnswerDoesNotBeginAnewAfterARestart) {
  EXPECT_THAT(answered_after_restart(6min - 1s), HasSubstr("red"));
  EXPECT_THAT(answered_after_restart(6min + 1s), HasSubstr("no answer: proceed"));
}

TEST(Dialogue, WhatThePersonWasAskedBeforeARestartIsPutToThemAgain) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("ask_user", std::string(kAsk))}};
    return {.text = "it is " + scene.news};
  });
  world.options.attendance = Attendance::person;
  world.on_event = [](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<QuestionAsked>(event.fact)) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  world.on_event = {};
  world.on_question = [](Runtime& runtime, const Question& question) {
    runtime.answer(question.id, {AnswerKind::text, "red"});
  };
  const auto report = world.resume(2);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->body, HasSubstr("red"));
  EXPECT_EQ(report->questions, 1) << "it is one question all the same";
}

// Its permission is a question too, of the same call.
TEST(Dialogue, AQuestionThatNeedsPermissionIsAnsweredWheneverTheProgramDies) {
  int died = 0;
  for (int record = 1; !testing::Test::HasFailure(); ++record) {
    SCOPED_TRACE(fmt::format("it dies at record {}", record));
    ASSERT_LT(record, 60);
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.step == 0) return {.calls = {call_of("ask_user", std::string(kAsk))}};
      return {.text = "it is " + scene.news};
    });
    world.options.attendance = Attendance::person;
    world.options.crash = {.at_record = record};
    world.rules = Rules({{Decision::ask, "ask_user", ""}});
    world.on_question = [](Runtime& runtime, const Question& question) {
      const bool is_permission = question.kind == QuestionKind::permission;
      runtime.answer(question.id,
                     is_permission ? Answer{AnswerKind::approved, ""} : Answer{AnswerKind::text, "red"});
    };
    if (!world.run_through_crash()) break;
    if (world.sessions().empty()) continue;
    ++died;
    EXPECT_THAT(world.results_of("ask_user"), testing::ElementsAre(HasSubstr("red")));
    const auto ended = world.facts<RunEnded>();
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended.front().report->questions, 1);
  }
  EXPECT_GT(died, 3);
}

TEST(Dialogue, AChildThatIsPermittedToAskIsAnsweredByItsParent) {
  DialogueWorld world(one_question);
  world.options.attendance = Attendance::person;
  world.rules = Rules({{Decision::allow, "spawn_subagent", ""}, {Decision::ask, "ask_parent", ""}});
  world.on_question = [](Runtime& runtime, const Question& question) {
    if (question.kind == QuestionKind::permission) runtime.answer(question.id, {AnswerKind::approved, ""});
  };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.facts<QuestionAsked>().size(), 2u) << "for permission, and what it wants to know";
  EXPECT_THAT(world.results_of("ask_parent"), testing::ElementsAre(HasSubstr("red")));
}

TEST(DialogueSimulation, AChildMayAskTenTimesAndNotEleven) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth == 0) return parent_that_answers(scene);
      if (scene.step < 11)
        return {
            .calls = {call_of("ask_parent", fmt::format(R"({{"question":"And number {}?"}})", scene.step))}};
      return {.text = "done: " + scene.news};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    const auto told = world.results_of("ask_parent");
    ASSERT_EQ(told.size(), 11u);
    EXPECT_THAT(told[9], HasSubstr("red"));
    EXPECT_THAT(told[10], AllOf(HasSubstr("no answer"), HasSubstr("10 questions")));
    EXPECT_THAT(report->body, HasSubstr("Questions: 10"));
    world.expect_sound("");
  });
}

TEST(DialogueSimulation, AChildThatDiesWhileItAsksGivesItsReportToWhoAnswers) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      if (scene.step == 1) return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = 1min};
      return {.text = scene.news};
    });
    world.on_question = [](Runtime& runtime, const Question& question) {
      runtime.cancel(question.asker, StopReason::user);
    };
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(world.child("explore").state, SessionState::cancelled);
    EXPECT_THAT(world.heard_by_root(), HasSubstr("Status: cancelled"));
    world.expect_sound("");
  });
}

TEST(DialogueSimulation, AChildWhoseParentEndsWithoutAnAnswerFinishesBlocked) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      return {.text = "I do not care."};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->body, "I do not care.");
    EXPECT_EQ(world.child("explore").state, SessionState::blocked);
    EXPECT_EQ(world.child("explore").reason, Reason::question_unanswered);
    EXPECT_THAT(world.child("explore").error, HasSubstr("Which one?"));
    world.expect_sound("");
  });
}

// One beside it, whose question it has not even read; however it ends, it ends without an answer.
TEST(DialogueSimulation, AChildBesideAParentThatFailsWhileItAsksFinishesBlocked) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0)
        return {.calls = {call_of("task", R"({"agent":"explore","prompt":"ask","run_in_background":true})")}};
      return {.after = 10s, .ends_as = ReplyStop::failed};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, Status::failed);
    EXPECT_EQ(world.child("explore").state, SessionState::blocked);
    EXPECT_EQ(world.child("explore").reason, Reason::question_unanswered);
    EXPECT_EQ(world.terminal_records("explore"), 1);
    world.expect_sound("");
  });
}

Act two_questions(const Scene& scene) {
  if (scene.depth > 0) {
    if (scene.step == 0)
      return {.calls = {call_of("ask_parent", fmt::format(R"({{"question":"{}?"}})", scene.agent))}};
    return {.text = scene.agent + " took " + scene.news};
  }
  if (scene.step == 0) return {.calls = {spawn("explore"), spawn("planner")}};
  if (scene.step == 1) {
    Act act;
    for (std::size_t i : {1u, 0u}) {
      const std::string id = scene.value_of("question_id: ", i);
      act.calls.push_back(answer(id, i == 0 ? "one" : "two"));
    }
    return act;
  }
  return {.text = scene.heard};
}

TEST(DialogueSimulation, TwoChildrenMayAskAtOnce) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world(two_questions);
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body,
                AllOf(HasSubstr("explore took Your parent"), HasSubstr("planner took Your parent")));
    EXPECT_THAT(report->body, AllOf(HasSubstr("one"), HasSubstr("two")));
    world.expect_sound("");
  });
}

// Both are legal, but it is one of them and not both.
TEST(DialogueSimulation, AnAnswerInTheLastMomentIsTakenOrComesTooLate) {
  std::set<std::string> outcomes;
  in_many_orders([&outcomes](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      if (scene.step == 1) return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = 10min};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    ASSERT_TRUE(world.run());
    const auto answers = world.facts<QuestionAnswered>();
    ASSERT_EQ(answers.size(), 1u);
    const bool is_taken = answers[0].answer.kind == AnswerKind::text;
    EXPECT_THAT(world.results_of("ask_parent"),
                testing::ElementsAre(HasSubstr(is_taken ? "red" : "no answer: proceed")));
    EXPECT_EQ(world.child("explore").state, SessionState::completed);
    EXPECT_THAT(world.heard_by_root(), HasSubstr("It took: "));
    outcomes.insert(is_taken ? "taken" : "too late");
    world.expect_sound("");
  });
  EXPECT_FALSE(outcomes.empty());
}

// The stop, the answer and the child's end all come at once.
TEST(DialogueSimulation, AnAnswerToAChildThatIsBeingStoppedEndsWithItsOneReport) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      if (scene.step == 1) return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = 1s};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    world.on_question = [](Runtime& runtime, const Question& question) {
      runtime.cancel(question.asker, StopReason::user);
    };
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.terminal_records("explore"), 1);
    EXPECT_THAT(world.heard_by_root(), HasSubstr("## Subagent Result (explore)"));
    world.expect_sound("");
  });
}

// A child beside its parent asks whether it may run a command. Its parent, who has found the id of that
// question, says yes in every way that it has. Returns how often the command was run.
int runs_of_what_was_asked(std::uint64_t seed, AnswerKind person_says) {
  const DialogueWorld* seen = nullptr;
  DialogueWorld world([&seen](const Scene& scene) -> Act {
    if (scene.depth > 0) {
      if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"make"})")}};
      return {.text = "child: " + scene.news};
    }
    if (scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"general","prompt":"do","run_in_background":true})")}};
    if (scene.step == 1) return {.calls = {call_of("Todo", R"({"todos":[]})")}, .after = 30s};
    if (scene.step == 2) {
      const std::string asks = seen->facts<QuestionAsked>().at(0).question.id;
      const std::string id = scene.value_of("id: ");
      return {.calls = {answer(asks, "yes"),
                        call_of("task_message", fmt::format(R"({{"id":"{}","text":"yes"}})", id))}};
    }
    return {.text = scene.news};
  });
  seen = &world;
  world.options.seed = seed;
  world.options.attendance = Attendance::person;
  int runs = 0;
  world.programs = [&runs](SimProcesses& processes) {
    processes.define("bash", [&runs](const ProcessSpec&) {
      ++runs;
      return ProcessResult{};
    });
  };
  world.on_event = [&](Runtime& runtime, const Event& event) {
    const auto* message = std::get_if<Nudged>(&event.fact);
    if (!message || world.facts<QuestionAsked>().empty()) return;
    EXPECT_EQ(runs, 0);
    EXPECT_TRUE(world.facts<QuestionAnswered>().empty());
    runtime.answer(world.facts<QuestionAsked>().at(0).question.id, {person_says, ""});
  };
  EXPECT_TRUE(world.run());
  EXPECT_EQ(world.facts<QuestionAsked>().size(), 1u);
  EXPECT_EQ(world.facts<QuestionAsked>().at(0).question.kind, QuestionKind::permission);
  EXPECT_THAT(world.results_of("answer_subagent"),
              testing::ElementsAre(HasSubstr("No subagent of yours asks")));
  EXPECT_EQ(world.facts<Nudged>().size(), 1u);
  const auto answers = world.facts<QuestionAnswered>();
  EXPECT_EQ(answers.size(), 1u);
  for (const auto& each : answers) EXPECT_EQ(each.answer.by, Source::person);
  return runs;
}

TEST(DialogueSimulation, AnAgentsYesToAPermissionApprovesNothing) {
  in_many_orders([](std::uint64_t seed) {
    EXPECT_EQ(runs_of_what_was_asked(seed, AnswerKind::refused), 0);
    EXPECT_EQ(runs_of_what_was_asked(seed, AnswerKind::approved), 1) << "control: the person's";
  });
}

TEST(Dialogue, AQuestionThatNobodyAsksCannotBeAnswered) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0)
      return {.calls = {answer("q_sess_1800000000_abc123/1/0/0", "red"), answer("nonsense", "red")}};
    return {.text = scene.news};
  });
  const auto report = world.run();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->body, HasSubstr("No subagent of yours asks"));
}

TEST(DialogueSimulation, OnlyTheParentAnswersAChildAndOnlyOnce) {
  in_many_orders([](std::uint64_t seed) {
    const DialogueWorld* seen = nullptr;
    const auto id = [&seen] { return seen->facts<QuestionAsked>().front().question.id; };
    DialogueWorld world([&id](const Scene& scene) -> Act {
      if (scene.agent == "explore") return child_that_asks_once(scene);
      if (scene.agent == "meddler") {  // asks a child of its parent's, whose question it has guessed
        if (scene.step == 0) return {.calls = {call_of("Todo", R"({"todos":[]})")}, .after = 1min};
        if (scene.step == 1) return {.calls = {answer(id(), "blue")}};
        return {.text = "meddled"};
      }
      if (scene.step == 0) return {.calls = {spawn("explore"), spawn("meddler")}};
      if (scene.step == 1) return {.calls = {answer(id(), "red"), answer(id(), "red")}};
      return {.text = scene.news};
    });
    seen = &world;
    world.options.profiles = {{.name = "meddler", .tools = {"Todo"}, .subagents = {"planner"}}};
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    const auto answers = world.facts<QuestionAnswered>();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].answer, (Answer{AnswerKind::text, "red", Source::parent}))
        << "control: the parent's";
    EXPECT_THAT(world.results_of("answer_subagent"),
                testing::UnorderedElementsAre(
                    HasSubstr("No subagent of yours asks"), HasSubstr("It took: "),
                    testing::AnyOf(HasSubstr("It has its answer already"), HasSubstr("It took: "))))
        << "a second answer is none, and where the child has ended by then it is given the report";
    world.expect_sound("");
  });
}

TEST(DialogueSimulation, ThePersonMayAnswerInTheParentsPlace) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return child_that_asks_once(scene);
      if (scene.step == 0) return {.calls = {spawn("explore")}};
      if (scene.step == 1) return {.calls = {answer(scene.value_of("question_id: "), "red")}, .after = 1min};
      return {.text = scene.news};
    });
    world.on_question = [](Runtime& runtime, const Question& question) {
      runtime.answer(question.id, {AnswerKind::text, "violet"});
    };
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(world.results_of("ask_parent"),
                testing::ElementsAre(HasSubstr("The person answers: violet")));
    EXPECT_THAT(world.heard_by_root(), HasSubstr("It took: The person answers: violet"));
    world.expect_sound("");
  });
}

TEST(Dialogue, AChildFromBeforeARestartIsGoneOnWithWhateverHasBecomeOfItsProfile) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = 1h};
    if (scene.step == 0) return {.calls = {call_of("spawn_subagent", R"({"agent":"odd","task":"look"})")}};
    return {.text = "over"};
  });
  world.options.profiles = {{.name = "odd", .tools = {"Read"}}};
  world.on_event = [](Runtime& runtime, const Event& event) {
    const auto* input = std::get_if<InputGiven>(&event.fact);
    if (input && input->source == Source::parent) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  world.on_event = {};
  world.options.profiles = {};
  ASSERT_TRUE(world.resume(2));
  EXPECT_EQ(world.terminal_records("odd"), 1);
  const auto told = world.results_of("spawn_subagent");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0], HasSubstr("## Subagent Result (odd)"));
}

TEST(DialogueSimulation, IsTheSameInEveryOrder) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    DialogueWorld world(one_question);
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << "seed " << seed << ": " << report.error().message;
    ASSERT_THAT(report->body, HasSubstr("red")) << "seed " << seed;
    ASSERT_EQ(world.facts<QuestionAsked>().size(), 1u) << "seed " << seed;
    world.expect_sound("seed " + std::to_string(seed));
  }
}

TEST(DialogueSimulation, TwoQuestionsAtOnceSurviveACrashAtEveryRecord) {
  in_many_orders([](std::uint64_t seed) {
    for (int record = 1; !testing::Test::HasFailure(); ++record) {
      const std::string where = fmt::format("record {}", record);
      DialogueWorld world(two_questions);
      world.options.seed = seed;
      world.options.crash = {record, seed % 2 == 0};
      const auto report = world.run_through_crash();
      if (!report) break;  // there was no such record
      ASSERT_TRUE(*report) << where << ": " << report->error().message;
      if (world.sessions().empty()) continue;
      EXPECT_THAT((*report)->body,
                  AllOf(HasSubstr("explore took Your parent"), HasSubstr("planner took Your")))
          << where;
      EXPECT_EQ(world.facts<QuestionAsked>().size(), 2u) << where;
      EXPECT_EQ(world.facts<QuestionAnswered>().size(), 2u) << where;
      EXPECT_EQ(world.terminal_records("explore") + world.terminal_records("planner"), 2) << where;
      world.expect_sound(where);
    }
  });
}

TEST(DialogueSimulation, AQuestionSurvivesACrashAtEveryRecord) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    for (const bool committed : {true, false}) {
      for (int record = 1;; ++record) {
        const std::string where = fmt::format("seed {}, record {}{}", seed, record, committed ? "" : " lost");
        DialogueWorld world(one_question);
        world.options.seed = seed;
        world.options.crash = {record, committed};
        const auto report = world.run_through_crash();
        if (!report) break;  // there was no such record
        ASSERT_TRUE(*report) << where << ": " << report->error().message;
        if (world.sessions().empty()) continue;
        ASSERT_THAT((*report)->body, HasSubstr("red")) << where;
        ASSERT_EQ(world.facts<QuestionAsked>().size(), 1u) << where;
        ASSERT_EQ(world.facts<QuestionAnswered>().size(), 1u) << where;
        world.expect_sound(where);
      }
    }
  }
}

}  // namespace
}  // namespace deputy
