// What was heard of a reply that still streams goes into the journal with what others record meanwhile: so a
// crash leaves it for people to read, at no commit of its own, and nothing of what follows hangs on it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "agent/agent.h"
#include "app/transcript_text.h"
#include "base/text.h"
#include "store/redacting_store.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

Call beside(std::string_view agent) {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look","run_in_background":true}})", agent));
}

constexpr int kRecordedMeanwhile = 4;

// The explorer says `slowly` for ten seconds; after each of the first few the planner, beside it, makes a
// step that is recorded.
ActingModel::Play with(Act slowly) {
  slowly.text = "found it";
  slowly.after = 10s;
  return [slowly](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0) return {.calls = {beside("explore"), beside("planner")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.agent == "explore") return slowly;
    if (scene.step == kRecordedMeanwhile) return {.text = "planned", .after = 20s};
    return {.calls = {call_of("Glob", fmt::format(R"({{"pattern":"{}*"}})", scene.step))}, .after = 1s};
  };
}

std::vector<Event> events_of(const DialogueWorld& world, std::string_view label) {
  std::vector<Event> found;
  const Session* session = world.world.session_labelled(label);
  for (const Event& event : world.world.memory->journal)
    if (session && event.run.session == session->id) found.push_back(event);
  return found;
}

template <class F>
bool has(const std::vector<Event>& events) {
  return std::ranges::any_of(events,
                             [](const Event& event) { return std::holds_alternative<F>(event.fact); });
}

std::vector<std::string> pieces(const DialogueWorld& world) {
  std::vector<std::string> found;
  for (const ReplyHeard& piece : world.facts<ReplyHeard>()) found.push_back(piece.text);
  return found;
}

TEST(AHeardReply, IsLeftByACrashAfterAnythingThatWasRecordedMeanwhile) {
  constexpr int kMost = 1000;
  int left = 0;
  int record = 1;
  for (; record < kMost; ++record) {
    SCOPED_TRACE(fmt::format("stopped at record {}", record));
    std::set<std::string> told;  // to the explorer's model, whenever it was asked
    DialogueWorld world([&told, play = with({.streamed = "half of the answer"})](const Scene& scene) {
      if (scene.agent == "explore") told.insert(fmt::format("step {}: {}", scene.step, scene.heard));
      return play(scene);
    });
    world.options.crash = {.at_record = record, .committed = true};
    if (world.run()) break;
    const auto explorer = events_of(world, "explore");
    const auto planner = events_of(world, "planner");
    if (has<ReplyReceived>(planner) && !has<ReplyReceived>(explorer)) {
      ++left;
      EXPECT_EQ(heard_of(explorer), "half of the answer");
      EXPECT_THAT(transcript_text(world.child("explore"), explorer),
                  HasSubstr("\n--- agent, as far as it was heard\nhalf of the answer\n"));
      EXPECT_TRUE(has<CallFinished>(planner)) << "progress rides along too";
    }
    if (world.sessions().empty()) continue;
    const auto report = world.resume(1000);
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->status, Status::completed);
    EXPECT_EQ(report->body, "over");
    EXPECT_EQ(world.child("explore").result, "found it");
    EXPECT_THAT(world.heard_by_root(), AllOf(HasSubstr("found it"), Not(HasSubstr("half of the answer"))));
    EXPECT_EQ(heard_of(events_of(world, "explore")), "") << "the whole is there";
    EXPECT_EQ(told.size(), 1u) << "the piece is no part of a request";
    world.expect_sound("");
  }
  EXPECT_LT(record, kMost) << "it never came to its end";
  EXPECT_GE(left, kRecordedMeanwhile);
}

// Eight that speak slowly, in every step, and at different times.
Act of_eight(const Scene& scene) {
  if (scene.depth == 0 && scene.step > 0) return {.text = "all are done"};
  if (scene.depth == 0) {
    std::string tasks;
    for (int i = 0; i < 8; ++i)
      tasks += fmt::format(R"({}{{"label":"c{}","prompt":"do c{}"}})", i ? "," : "", i, i);
    return {.calls = {call_of("Delegate", fmt::format(R"({{"concurrency":4,"tasks":[{}]}})", tasks))}};
  }
  const int which = scene.label.back() - '0';
  Act act{.heard_every = 700ms, .streamed = fmt::format("{} speaks. ", scene.label)};
  act.after = std::chrono::seconds(scene.step == 0 ? 2 + which : 12 - which);
  if (scene.step == 0) {
    act.calls = {call_of("Read", R"({"file_path":"a.txt"})")};
  } else {
    act.text = fmt::format("{} is done", scene.label);
  }
  return act;
}

// What the root was told, without what each child used.
std::string told_to_root(const DialogueWorld& world) {
  std::string told;
  for (const std::string& result : world.results_of("Delegate")) {
    for (const auto line : split(result, '\n'))
      if (!line.starts_with("**")) told += std::string(line) + "\n";
  }
  return told;
}

TEST(AHeardReply, ChangesNoReportOfATreeOfEightThatStopsAtAnyRecord) {
  DialogueWorld undisturbed(of_eight);
  ASSERT_TRUE(undisturbed.run());
  const std::string expected = told_to_root(undisturbed);
  ASSERT_THAT(expected, HasSubstr("c7 is done"));
  ASSERT_GE(pieces(undisturbed).size(), 8u);
  for (const bool is_kept : {true, false}) {
    for (int record = 1;; ++record) {
      SCOPED_TRACE(fmt::format("record {} {}", record, is_kept ? "kept" : "lost"));
      ASSERT_LT(record, 1000) << "it never came to its end";
      DialogueWorld world(of_eight);
      world.options.crash = {.at_record = record, .committed = is_kept};
      const auto report = world.run_through_crash();
      if (!report) break;
      if (world.sessions().empty()) continue;
      ASSERT_TRUE(*report) << to_text(report->error());
      EXPECT_EQ((*report)->body, "all are done");
      EXPECT_EQ(told_to_root(world), expected);
      world.expect_sound("");
    }
  }
}

TEST(AHeardReply, CostsNoCommitAndNoEventThatIsTold) {
  const auto told_and_commits = [](std::string streamed) {
    DialogueWorld world(with({.streamed = std::move(streamed)}));
    std::string told;
    std::uint64_t commits = 0;
    world.on_event = [&](Runtime& runtime, const Event& event) {
      for (auto& line : to_lines(event, {}))
        told += string_or(line, "event", "") + " " + event.run.session.value + "\n";
      commits = runtime.store().counts().commits;
    };
    EXPECT_TRUE(world.run());
    return std::tuple(told, commits, pieces(world).size());
  };
  const auto [told, commits, none] = told_and_commits("");
  const auto [told_heard, commits_heard, heard] = told_and_commits("half of the answer");
  EXPECT_EQ(told_heard, told);
  EXPECT_EQ(commits_heard, commits);
  EXPECT_EQ(none, 0u);
  EXPECT_EQ(heard, 1u) << "each piece once";
}

TEST(AHeardReply, IsNotKeptWhereNothingElseIsRecorded) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step > 0) return {.text = "over"};
    if (scene.depth == 0) return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look"})")}};
    if (scene.step == 0) return {.calls = {call_of("Glob", R"({"pattern":"*"})")}, .after = 1s};
    return {.text = "found it", .after = 10s, .streamed = "half of the answer"};
  });
  ASSERT_TRUE(world.run());
  EXPECT_THAT(pieces(world), IsEmpty());
}

// After the first piece, so many units bring no more of them than there is to tell.
TEST(AHeardReply, IsKeptAgainOnceEnoughMoreWasHeard) {
  const auto second_piece = [](std::size_t bytes) {
    DialogueWorld world(
        with({.heard_every = 1500ms, .word = std::string(bytes, 'x'), .streamed = "to begin with "}));
    EXPECT_TRUE(world.run());
    const auto found = pieces(world);
    EXPECT_GE(found.size(), 2u);
    EXPECT_EQ(found.empty() ? "" : found[0], "to begin with ");
    return found.size() < 2 ? 0 : found[1].size();
  };
  EXPECT_EQ(second_piece(kLeastPiece), kLeastPiece);
  EXPECT_EQ(second_piece(kLeastPiece - 1), 2 * (kLeastPiece - 1)) << "with the next word";
}

TEST(AHeardReply, HasNoSecretThatIsSplitOverItsPieces) {
  std::string more = "battery now ";
  while (more.size() < 2 * kLeastPiece) more += "and so on ";
  const Act slowly{.heard_every = 1500ms, .word = more, .streamed = "use correct-horse-"};
  for (const bool is_hidden : {true, false}) {
    Redactor redactor;
    if (is_hidden) redactor.hide("correct-horse-battery");
    DialogueWorld world(with(slowly));
    world.options.store = [&](Loop& loop) {
      return std::make_unique<RedactingStore>(std::make_unique<MemoryStore>(loop, world.world.memory),
                                              redactor);
    };
    ASSERT_TRUE(world.run());
    const auto found = pieces(world);
    ASSERT_GE(found.size(), 2u);
    EXPECT_EQ(found[0], "use ") << "what may become a secret is held back";
    EXPECT_THAT(found[1], testing::StartsWith(is_hidden ? "[redacted] now and so on"
                                                        : "correct-horse-battery now and so on"));
    std::string kept;
    for (const Event& event : world.world.memory->journal) kept += to_json_text(fact_to_json(event.fact));
    EXPECT_EQ(kept.contains("correct-horse"), !is_hidden);
  }
}

// Nothing is recorded behind it: what was heard is there by what the suspended run itself leaves.
TEST(AHeardReply, IsLeftWhereItsRunIsSuspendedWhileItStreams) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  std::set<std::string> told;
  const Life::Options options{.model =
                                  [&told](Loop& loop) {
                                    return std::make_unique<ActingModel>(loop, [&told](const Scene& scene) {
                                      told.insert(fmt::format("step {}: {}", scene.step, scene.heard));
                                      return Act{.text = "the whole answer",
                                                 .after = 10s,
                                                 .heard_every = 1s,
                                                 .word = "and more ",
                                                 .streamed = "half of the answer "};
                                    });
                                  },
                              .ends_in_order = true};
  {
    Life life(world, options);
    int pieces_heard = 0;
    life.runtime().subscribe_deltas([&](const SessionId&, const Delta& delta) {
      if (std::holds_alternative<TextDelta>(delta) && ++pieces_heard == 3)
        life.runtime().cancel(StopReason::shutdown);
    });
    RootBrief root = life.brief("go");
    root.model = ModelName("acting/test");
    ASSERT_FALSE(life.start(std::move(root))) << "it has not ended";
  }
  const Session root = world.sessions().front();
  EXPECT_FALSE(is_terminal(root.state));
  EXPECT_EQ(heard_of(world.memory->journal), "half of the answer and more and more ");
  EXPECT_THAT(transcript_text(root, world.memory->journal),
              HasSubstr("\n--- agent, as far as it was heard\nhalf of the answer and more and more"));
  Life life(world, options);
  const auto report = life.resume(root.id);
  ASSERT_TRUE(report) << to_text(report.error());
  EXPECT_EQ(report->body, "the whole answer");
  EXPECT_EQ(told.size(), 1u) << "the very same request";
  EXPECT_EQ(heard_of(world.memory->journal), "") << "the whole is there";
}

// A model that does not hear that it is stopped speaks on when its end was recorded for it.
TEST(AHeardReply, IsNotKeptBehindTheEndOfItsRun) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look","timeout":60})"),
                        beside("planner")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.agent == "explore")
      return {.text = "late", .after = 1h, .heard_every = 1s, .word = "more and ", .is_deaf = true};
    if (scene.step < 8)
      return {.calls = {call_of("Glob", fmt::format(R"({{"pattern":"{}*"}})", scene.step))}, .after = 30s};
    return {.text = "planned"};
  });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.terminal_records("explore"), 1);
  const auto events = events_of(world, "explore");
  ASSERT_TRUE(has<ReplyHeard>(events));
  const auto end = std::ranges::find_if(
      events, [](const Event& event) { return std::holds_alternative<RunEnded>(event.fact); });
  EXPECT_FALSE(has<ReplyHeard>({end, events.end()}));
}

}  // namespace
}  // namespace deputy
