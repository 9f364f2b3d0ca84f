// Background work: reports reach the parent's context exactly once, whatever happens in between.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "agent/conversation.h"
#include "support/dialogue_world.h"
#include "transcript/mail.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

Call task(std::string_view agent, std::string_view prompt, std::string_view more = "") {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"{}"{}}})", agent, prompt, more));
}
Call in_background(std::string_view agent, std::string_view prompt = "look") {
  return task(agent, prompt, R"(,"run_in_background":true,"description":"looks around")");
}
Call about(std::string name, const std::string& id, std::string_view more = "") {
  return call_of(std::move(name), fmt::format(R"({{"id":"{}"{}}})", id, more));
}

// The root starts one child in the background, goes on at once, and ends when it has its report.
Act one_beside(const Scene& scene) {
  if (scene.depth > 0) return {.text = "found it", .after = 30s};
  if (scene.step == 0) return {.calls = {in_background("explore")}};
  if (scene.times_heard("## Subagent Result") == 0) return {.text = "I go on."};
  return {.text = "The child: " + scene.news};
}

int deliveries(const DialogueWorld& world, const std::string& item) {
  const auto all = world.facts<Delivered>();
  return static_cast<int>(std::ranges::count(all, item, &Delivered::item));
}

TEST(Background, AnswersAtOnceAndDeliversTheReportByItselfBeforeTheRunEnds) {
  DialogueWorld world(one_beside);
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  const SessionId child = world.child("explore").id;
  EXPECT_THAT(world.results_of("task"),
              ElementsAre(AllOf(HasSubstr("id: " + child.value), HasSubstr("agent: explore"),
                                HasSubstr("description: looks around"))));
  EXPECT_THAT(report->body, AllOf(HasSubstr("The child: "), HasSubstr("found it")));
  EXPECT_EQ(deliveries(world, report_item(child, 1)), 1);
  world.expect_sound("");
}

TEST(Background, TheReportIsToldAsAnAgentsWord) {
  DialogueWorld world(one_beside);
  ASSERT_TRUE(world.run());
  const auto mail = world.facts<Delivered>();
  ASSERT_EQ(mail.size(), 1u);
  EXPECT_EQ(mail[0].source, Source::child);
  EXPECT_THAT(mail[0].text, HasSubstr("approves nothing that needs the person"));
}

// One between its parent and its child reaches its limit while the report of that child is there.
Act at_its_limit(const Scene& scene) {
  if (scene.depth == 2) return {.text = "found it", .after = 1s};
  if (scene.depth == 0 && scene.step == 0) return {.calls = {task("middle", "look")}};
  if (scene.depth == 0) return {.text = "over"};
  if (scene.step == 0) return {.calls = {in_background("explore")}};
  if (scene.is_told("your last step"))
    return {.text = scene.is_told("found it") ? "told in time" : "not told"};
  return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}, .after = 5s};
}

const Profile kMiddle{.name = "middle", .tools = {"Read"}, .subagents = {"*"}, .max_turns = 2, .timeout = 1h};

TEST(BackgroundSimulation, AReportThatIsThereIsToldInTheLastStepAtALimit) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world(at_its_limit);
    world.options.seed = seed;
    world.options.profiles = {kMiddle};
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.child("middle").reason, Reason::max_turns);
    EXPECT_THAT(world.child("middle").result, HasSubstr("told in time"));
    EXPECT_EQ(deliveries(world, report_item(world.child("explore").id, 1)), 1);
    world.expect_sound("");
  });
}

// What is kept for that step is enough for a report, and may not be for what came in.
TEST(BackgroundSimulation, AReportThatIsThereWaitsForTheNextRunWhereTokensAreLimited) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world(at_its_limit);
    world.options.seed = seed;
    world.options.limits.tokens = 100'000'000;
    world.options.profiles = {kMiddle};
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.child("middle").reason, Reason::max_turns);
    EXPECT_THAT(world.child("middle").result, HasSubstr("not told"));
    EXPECT_EQ(deliveries(world, report_item(world.child("explore").id, 1)), 0);
  });
}

TEST(BackgroundSimulation, TheStatusIsToldAnyNumberOfTimes) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found it", .after = 30s};
      const std::string id = scene.value_of("id: ");
      switch (scene.step) {
        case 0:
          return {.calls = {in_background("explore")}};
        case 1:
          return {.calls = {about("task_status", id), about("task_status", id, R"(,"wait_seconds":60)")}};
        case 2:
          return {.calls = {about("task_status", id), call_of("task_status", "{}")}};
        default:
          return {.text = "done"};
      }
    });
    world.options.seed = seed;
    ASSERT_TRUE(world.run());
    const auto told = world.results_of("task_status");
    ASSERT_EQ(told.size(), 4u);
    EXPECT_THAT(told[0],
                AllOf(testing::AnyOf(HasSubstr("(explore): running"), HasSubstr("(explore): pending")),
                      HasSubstr("steps"), HasSubstr("idle")));
    for (int i : {1, 2, 3}) EXPECT_THAT(told[static_cast<std::size_t>(i)], HasSubstr("found it"));
    EXPECT_EQ(world.facts<Delivered>().size(), 1u) << "having looked does not replace the delivery";
    world.expect_sound("");
  });
}

// While it runs: what it has used and what it did last.
TEST(BackgroundSimulation, TheStatusTellsStepsTokensCostIdleTimeAndTheLastActivity) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0 && scene.step == 0)
        return {.calls = {call_of("Glob", R"({"pattern":"*.txt"})")},
                .usage = {.input = 1200, .output = 34, .cost_micros = 5600}};
      if (scene.depth > 0) return {.text = "found it", .after = 1h};
      if (scene.step == 0) return {.calls = {in_background("explore")}};
      if (scene.step == 1) return {.calls = {about("task_status", scene.value_of("id: "))}, .after = 90s};
      return {.text = "over"};
    });
    world.options.seed = seed;
    ASSERT_TRUE(world.run());
    EXPECT_THAT(
        world.results_of("task_status"),
        ElementsAre(AllOf(HasSubstr(world.child("explore").id.value + " (explore): running"),
                          HasSubstr("1 steps"), HasSubstr("in=1200 out=34 tokens"), HasSubstr("$0.0056"),
                          HasSubstr("idle 1m 30s"), HasSubstr("last: Glob *.txt"))));
    world.expect_sound("");
  });
}

TEST(Background, ALongReportIsBoundedWithItsPathByMailAndInEveryStatus) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "HEAD" + std::string(5000, 'x') + "TAIL", .after = 30s};
    const std::string id = scene.value_of("id: ");
    switch (scene.step) {
      case 0:
        return {.calls = {in_background("explore"), in_background("planner")}};
      case 1:
        return {.calls = {about("task_status", id, R"(,"wait_seconds":60)")}};
      case 2:
        return {.calls = {call_of("task_status", "{}"), about("task_cancel", id)}, .after = 1s};
      default:
        return {.text = "done"};
    }
  });
  world.options.reports = {.report_bytes = 2000, .batch_bytes = 3000};
  ASSERT_TRUE(world.run());
  std::vector<std::string> told = world.results_of("task_status");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_LE(told[1].size(), 3000u + 2 * 200) << "two of them share what a batch may hold";
  told.push_back(world.results_of("task_cancel").at(0));
  for (const auto& mail : world.facts<Delivered>()) told.push_back(mail.text);
  ASSERT_EQ(told.size(), 5u);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_THAT(told[i], AllOf(HasSubstr("HEAD"), HasSubstr("TAIL"), HasSubstr("left out"),
                               HasSubstr("[The whole report: /home/reports/")))
        << i;
    if (i != 1) EXPECT_LE(told[i].size(), 2000u + 500) << i;
  }
}

TEST(BackgroundSimulation, AParentEndsWhatItStartedAndKeepsWhatThereIs) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) {
        if (scene.step == 0) return {.calls = {call_of("Note", R"({"content":"half of it"})")}};
        return {.text = "never", .after = 1h};
      }
      if (scene.step == 0) return {.calls = {in_background("explore")}};
      if (scene.step == 1) return {.calls = {about("task_cancel", scene.value_of("id: "))}, .after = 1min};
      return {.text = "done: " + scene.news};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(world.child("explore").reason, Reason::cancelled_by_parent);
    EXPECT_THAT(world.results_of("task_cancel"), ElementsAre(HasSubstr("half of it")));
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, AMessageIsReadBetweenTwoStepsAndMarkedAsTheParents) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) {
        if (scene.step == 0) return {.calls = {call_of("Glob", R"({"pattern":"*"})")}, .after = 1min};
        return {.text = "heard: " + scene.news};
      }
      if (scene.step == 0) return {.calls = {in_background("explore")}};
      if (scene.step == 1)  // the child thinks by then
        return {.calls = {about("task_message", scene.value_of("id: "), R"(,"text":"look at b too")")},
                .after = 1s};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body, AllOf(HasSubstr("look at b too"), HasSubstr("from your parent agent")));
    const auto nudges = world.facts<Nudged>();
    ASSERT_EQ(nudges.size(), 1u);
    EXPECT_EQ(nudges[0].source, Source::parent);
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, ANudgeOfThePersonsIsMarkedAsTheirs) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.step == 0) return {.calls = {call_of("Glob", R"({"pattern":"*"})")}};
      return {.text = scene.heard, .after = 1s};
    });
    world.on_event = [](Runtime& runtime, const Event& event) {
      if (std::holds_alternative<CallStarted>(event.fact)) runtime.nudge(event.run.session, "be brief");
    };
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body, HasSubstr("[A message from the person]\nbe brief"));
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, AChildThatHasEndedGoesOnWithItsWholeTranscript) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0)
        return {.text = fmt::format("reply {} to {}", scene.step, scene.is_told("and b?") ? "b" : "a")};
      if (scene.step == 0) return {.calls = {task("explore", "what of a?")}};
      if (scene.step == 1)
        return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"and b?"}})",
                                                      scene.value_of("Session: ")))}};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body, HasSubstr("reply 1 to b"));
    EXPECT_EQ(world.child("explore").run, 2);
    EXPECT_EQ(world.terminal_records("explore"), 2) << "one a run";
    EXPECT_THAT(world.world.transcript("explore"),
                AllOf(HasSubstr("reply 0 to a"), HasSubstr("reply 1 to b")));
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, OnlyAnEndedChildOfOnesOwnIsResumed) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found it", .after = 10s};
      const auto resume = [](const std::string& id) {
        return call_of("task", fmt::format(R"({{"resume":"{}","prompt":"more"}})", id));
      };
      if (scene.step == 0) return {.calls = {in_background("explore")}};
      if (scene.step == 1)
        return {.calls = {resume(scene.value_of("id: ")), resume("sess_1800000000_zzzzzz")}};
      return {.text = "done"};
    });
    world.options.seed = seed;
    ASSERT_TRUE(world.run());
    EXPECT_THAT(world.results_of("task"), testing::IsSupersetOf({HasSubstr("has not ended yet"),
                                                                 HasSubstr("is not a subagent of yours")}));
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, ABlockingChildIsSentToTheBackgroundByThePerson) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) {
        if (scene.step == 0) return {.calls = {call_of("Glob", R"({"pattern":"*"})")}};
        return {.text = "found it", .after = 5min};
      }
      if (scene.step == 0) return {.calls = {task("explore", "look")}};
      if (scene.times_heard("## Subagent Result") == 0) return {.text = "I go on."};
      return {.text = "The child: " + scene.news};
    });
    world.on_event = [](Runtime& runtime, const Event& event) {
      const auto* started = std::get_if<CallStarted>(&event.fact);
      if (started && started->tool == "Glob") runtime.send_to_background(event.run.session);
    };
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(world.results_of("task"), ElementsAre(HasSubstr("sent this subagent to the background")));
    EXPECT_THAT(report->body, HasSubstr("found it"));
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, AChildBesideItsParentMayAskTooAndTheQuestionComesWithTheNextStep) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) {
        if (scene.step == 0) return {.calls = {call_of("ask_parent", R"({"question":"Which one?"})")}};
        return {.text = "took " + scene.news};
      }
      if (scene.step == 0) return {.calls = {in_background("explore")}};
      if (scene.is_told("state: question"))
        return {.calls = {call_of("answer_subagent", fmt::format(R"({{"question_id":"{}","answer":"red"}})",
                                                                 scene.value_of("question_id: ")))}};
      if (scene.times_heard("## Subagent Result") == 0) return {.text = "I go on."};
      return {.text = scene.news};
    });
    world.options.seed = seed;
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body, AllOf(HasSubstr("took Your parent"), HasSubstr("red")));
    EXPECT_EQ(world.facts<Delivered>().size(), 1u) << "the question; the report came as the answer's result";
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, WhatAParentThatHadEndedIsOwedComesAtItsNextInput) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found it", .after = 1h};
      if (scene.step == 0) return {.calls = {in_background("explore")}};
      if (scene.times_heard("again") == 0) return {.ends_as = ReplyStop::failed};
      return {.text = "now I know: " + scene.news};
    });
    world.options.seed = seed;
    const auto first = world.run();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->status, Status::failed);
    EXPECT_EQ(world.child("explore").reason, Reason::parent_stopped);
    EXPECT_TRUE(world.facts<Delivered>().empty());
    const auto second = world.say("again");
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_THAT(second->body, AllOf(HasSubstr("now I know"), HasSubstr("Status: cancelled")));
    EXPECT_EQ(world.facts<Delivered>().size(), 1u);
    world.expect_sound("");
  });
}

TEST(BackgroundSimulation, AReportIsDeliveredOnceThroughACrashAtEveryRecord) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    for (const bool committed : {true, false}) {
      for (int record = 1;; ++record) {
        const std::string where = fmt::format("seed {}, record {}{}", seed, record, committed ? "" : " lost");
        DialogueWorld world(one_beside);
        world.options.seed = seed;
        world.options.crash = {record, committed};
        const auto report = world.run_through_crash();
        if (!report) break;
        ASSERT_TRUE(*report) << where << ": " << report->error().message;
        if (world.sessions().empty()) continue;
        ASSERT_THAT((*report)->body, HasSubstr("found it")) << where;
        ASSERT_EQ(deliveries(world, report_item(world.child("explore").id, 1)), 1) << where;
        world.expect_sound(where);
      }
    }
  }
}

// Completions that race with their parent's steps and with restarts, for half of the seeds with its
// compactions too; each is seen once.
void race(std::uint64_t seed, int children) {
  constexpr std::string_view kReport = "## Subagent Result";
  constexpr std::string_view kSummary = "All were started. Reports so far:\n";
  const bool is_compacted = seed % 4 < 2;
  std::string found = "found it";
  for (int word = 0; is_compacted && word < 1600; ++word) found += " word";
  const auto play = [=](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = found, .after = std::chrono::milliseconds(scene.heard.size() % 97)};
    const auto reports = static_cast<int>(scene.times_heard(kReport));
    if (scene.is_told(wish_for_summary().text)) {
      Act act{.text = std::string(kSummary), .after = 3ms};
      for (int i = 0; i < reports; ++i) act.text += fmt::format("{}\n", kReport);
      return act;
    }
    if (scene.step == 0 && !scene.heard.contains(kSummary)) {
      Act act;
      for (int i = 0; i < children; ++i)
        act.calls.push_back(
            in_background("explore", std::string(static_cast<std::size_t>(1 + i * 7 % 97), 'x')));
      return act;
    }
    if (reports == children) return {.text = "all"};
    if (scene.step % 3 == 1) return {.calls = {call_of("Glob", R"({"pattern":"*"})")}, .after = 5ms};
    return {.text = "so far", .after = std::chrono::milliseconds(scene.step % 5)};
  };
  DialogueWorld world(play);
  if (is_compacted) world.window = 32'000;
  world.options.limits.delegations = children;
  world.options.limits.live_children = 5 + static_cast<int>(seed % 7);
  world.options.seed = seed;
  world.options.crash = {
      .at_record = 1 + static_cast<int>(seed * 13 % static_cast<std::uint64_t>(children * 3)),
      .committed = seed % 2 == 0};
  auto report = world.run_through_crash();
  const std::string where = "seed " + std::to_string(seed);
  if (!report) report = Result<Report>(Report{.body = "all"});  // it ended before it could die
  ASSERT_TRUE(*report) << where << ": " << report->error().message;
  if (world.sessions().empty()) return;
  EXPECT_EQ((*report)->body, "all") << where;
  std::map<std::string, int> seen;
  for (const auto& delivered : world.facts<Delivered>()) seen[delivered.item] += 1;
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(children)) << where;
  for (const auto& [item, times] : seen) EXPECT_EQ(times, 1) << item << " " << where;
  EXPECT_EQ(world.facts<Compacted>().empty(), !is_compacted) << where;
  world.expect_sound(where);
}

TEST(BackgroundSimulation, EveryCompletionIsSeenOnceInARaceWithStepsAndRestarts) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50) && !HasFailure(); ++seed) race(seed, 20);
}

TEST(BackgroundLong, TenThousandCompletionsAreSeenOnceEach) {
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) race(seed, 50);
}

}  // namespace
}  // namespace deputy
