// However a program died in the middle of a tree that another took up, at whichever record, once or twice:
// its bundle replays to the same events. Only where commands were lost it may be said that no replay can.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "app/replay.h"
#include "replay_world.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr int kMoreRecordsThanThereAre = 60;

// Longer than a child has, and not as long as a question to its parent stands: that ends though nobody runs
// it.
constexpr auto kAway = 8min;
constexpr auto kTooLate = 11min;

bool has_ended(const ReplayWorld& world) { return is_terminal(world.sessions().front().state); }

bool has_lost_a_command(const ReplayWorld& world) {
  return std::ranges::any_of(world.facts<Nudged>(),
                             [](const Nudged& word) { return word.source == Source::runtime; });
}

// Whether it was replayed, and came out the same.
bool is_replayed(const ReplayWorld& world) {
  const auto& journal = world.world.memory->journal;
  const auto bundle = parse_bundle(bundle_text({{}, journal}, {}));
  EXPECT_TRUE(bundle) << bundle.error().message;
  if (!bundle) return false;
  const auto replayed = replay(*bundle);
  if (replayed) {
    EXPECT_THAT(replayed->differences, IsEmpty());
    return replayed->differences.empty();
  }
  EXPECT_THAT(replayed.error().message, HasSubstr("cannot be replayed"));
  EXPECT_TRUE(has_lost_a_command(world)) << replayed.error().message;
  return false;
}

// What a program was about when it died.
struct Form {
  std::string name;
  ActingModel::Play play;
  // Of a tree whose program died and that was taken up: whether it died in the middle of that.
  std::function<bool(const ReplayWorld&)> is_it;
};

std::ostream& operator<<(std::ostream& out, const Form& form) { return out << form.name; }

Act a_child_that_asks_the_person(const Scene& scene) {
  if (scene.depth == 0) {
    if (scene.step > 0) return {.text = "over", .after = 2s};
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"look"})")}, .after = 2s};
  }
  if (scene.step > 0) return {.text = "done", .after = 2s};
  return {.calls = {call_of("Write", R"({"file_path":"b.txt","content":"x"})")}, .after = 2s};
}

Act a_root_that_asks_the_person(const Scene& scene) {
  if (scene.step > 0) return {.text = "over", .after = 2s};
  return {.calls = {call_of("ask_user", R"({"question":"Which one?"})")}, .after = 2s};
}

Act a_child_that_asks_its_parent(const Scene& scene) {
  if (scene.depth > 0) {
    // Not at the same moment as its parent: who comes first then is not on record.
    if (scene.step > 0) return {.text = "done", .after = 1s};
    return {.calls = {call_of("ask_parent", R"({"question":"Which one?"})")}, .after = 2s};
  }
  if (scene.step == 0)
    return {.calls = {call_of("spawn_subagent", R"({"agent":"explore","task":"do it"})")}, .after = 2s};
  if (!scene.is_told("state: question")) return {.text = "over", .after = 2s};
  return {.calls = {call_of("answer_subagent", fmt::format(R"({{"question_id":"{}","answer":"red"}})",
                                                           scene.value_of("question_id: ")))},
          .after = 2s};
}

Act a_command_in_the_background(const Scene& scene) {
  if (scene.step == 0)
    return {.calls = {call_of("Bash", R"({"command":"make","run_in_background":true})")}, .after = 2s};
  if (scene.step == 1) return {.calls = {call_of("task_status", R"({"wait_seconds":60})")}, .after = 2s};
  return {.text = "over", .after = 2s};
}

// A question of the first program was answered to the next.
bool has_waited_on(const ReplayWorld& world) {
  std::optional<WallTime> asked;
  for (const Event& event : world.world.memory->journal) {
    if (std::holds_alternative<QuestionAsked>(event.fact) && !asked) asked = event.at;
    if (std::holds_alternative<QuestionAnswered>(event.fact) && asked && event.at - *asked > kAway / 2)
      return true;
  }
  return false;
}

void prepare(ReplayWorld& world) {
  world.options.attendance = Attendance::person;
  world.before_answer = 5s;
  world.rules = Rules({{Decision::allow, "task", ""},
                       {Decision::allow, "spawn_subagent", ""},
                       {Decision::allow, "Bash", ""},
                       {Decision::ask, "Write", ""}});
  world.on_question = [](Runtime& runtime, const Question& question) {
    if (question.kind == QuestionKind::to_parent) return;  // its parent's to answer
    const bool is_permission = question.kind == QuestionKind::permission;
    runtime.answer(question.id, {is_permission ? AnswerKind::approved : AnswerKind::text, "as you like"});
  };
  world.programs = [](SimProcesses& processes) {
    processes.define("bash", [](const ProcessSpec&) { return ProcessResult{.output = "made\n"}; }, 20s);
  };
}

// A program that died at any record, and one that took the tree up so much later.
void expect_replays(const Form& form, Duration away) {
  int met = 0;
  int same = 0;
  for (int record = 1; !testing::Test::HasFailure(); ++record) {
    SCOPED_TRACE(fmt::format("it dies at record {}", record));
    ASSERT_LT(record, kMoreRecordsThanThereAre);
    ReplayWorld world(form.play);
    prepare(world);
    world.options.crash = {.at_record = record, .ends_commands = true};
    world.away = away;
    const auto ended = world.run_through_crash();
    if (!ended) break;
    if (world.sessions().empty()) continue;
    ASSERT_TRUE(has_ended(world)) << (*ended ? "" : ended->error().message);
    met += form.is_it(world) ? 1 : 0;
    same += is_replayed(world) ? 1 : 0;
  }
  EXPECT_GT(met, 0) << "it never died in the middle of that";
  EXPECT_GT(same, 0);
}

class AReplayOfADeath : public testing::TestWithParam<Form> {};

TEST_P(AReplayOfADeath, GivesTheSameEvents) { expect_replays(GetParam(), kAway); }

bool has_run_out(const ReplayWorld& world) {
  return std::ranges::any_of(world.facts<QuestionAnswered>(), [](const QuestionAnswered& answered) {
    return answered.answer.kind == AnswerKind::nobody;
  });
}

TEST(AReplayOfAQuestionThatRanOutOfTime, GivesTheSameEvents) {
  expect_replays({"", a_child_that_asks_its_parent, has_run_out}, kTooLate);
}

INSTANTIATE_TEST_SUITE_P(
    Of, AReplayOfADeath,
    testing::Values(Form{"AChildThatWaitsForThePerson", a_child_that_asks_the_person, has_waited_on},
                    Form{"ARootThatWaitsForAnAnswer", a_root_that_asks_the_person, has_waited_on},
                    Form{"AChildThatWaitsForItsParent", a_child_that_asks_its_parent, has_waited_on},
                    Form{"ACommandInTheBackground", a_command_in_the_background, has_lost_a_command}),
    [](const auto& info) { return info.param.name; });

TEST(AReplayOfTwoDeaths, GivesTheSameEvents) {
  int twice = 0;
  bool has_died = true;
  for (int first = 1; has_died && !testing::Test::HasFailure(); ++first) {
    ASSERT_LT(first, kMoreRecordsThanThereAre);
    for (int second = 1; !testing::Test::HasFailure(); ++second) {
      SCOPED_TRACE(fmt::format("it dies at record {}, and the next at its record {}", first, second));
      ASSERT_LT(second, kMoreRecordsThanThereAre);
      ReplayWorld world(a_child_that_asks_the_person);
      prepare(world);
      world.options.crash = {.at_record = first};
      has_died = !world.run();
      if (!has_died || world.sessions().empty() || has_ended(world)) break;
      world.away = 1h;
      if (world.resume(1'000, std::nullopt, {.at_record = second}) || has_ended(world)) break;
      world.away = 2h;
      const auto ended = world.resume(2'000);
      ASSERT_TRUE(ended) << ended.error().message;
      twice += is_replayed(world) ? 1 : 0;
    }
  }
  EXPECT_GT(twice, 3);
}

// At whichever record of its child's, which takes notes; the words are for that.
TEST(AReplayOfWordsThatWereLeftAfterADeath, GivesTheSameEvents) {
  int heard = 0;
  for (int record = 1; !testing::Test::HasFailure(); ++record) {
    SCOPED_TRACE(fmt::format("it dies at record {}", record));
    ASSERT_LT(record, kMoreRecordsThanThereAre);
    ReplayWorld world([](const Scene& scene) -> Act {
      if (scene.depth == 0 && scene.step == 0)
        return {.calls = {call_of("task", R"({"agent":"general","prompt":"look"})")}, .after = 2s};
      if (scene.depth == 0) return {.text = "over", .after = 2s};
      if (scene.is_told("be quick")) return {.text = "quick", .after = 2s};
      if (scene.step == 3) return {.text = "slow", .after = 2s};
      return {.calls = {call_of("Note", fmt::format(R"({{"content":"note {}"}})", scene.step))}, .after = 2s};
    });
    world.options.crash = {.at_record = record};
    if (world.run()) break;
    if (world.sessions().size() < 2 || has_ended(world)) continue;
    world.options.crash = {};
    world.leave_word("general", "be quick");
    world.away = 1h;
    const auto ended = world.resume(2);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(is_replayed(world));
    heard += world.facts<Delivered>().empty() ? 0 : 1;
  }
  EXPECT_GT(heard, 3);
}

// By the person, who does not go on with it: at whichever record it died, also with a child or two under way.
TEST(AReplayOfATreeThatWasGivenUp, GivesTheSameEvents) {
  int with_child = 0;
  for (int record = 1; !testing::Test::HasFailure(); ++record) {
    SCOPED_TRACE(fmt::format("it dies at record {}", record));
    ASSERT_LT(record, kMoreRecordsThanThereAre);
    ReplayWorld world(a_child_that_asks_the_person);
    prepare(world);
    world.options.crash = {.at_record = record};
    if (world.run()) break;
    if (world.sessions().empty() || has_ended(world)) continue;
    world.give_up(1h);
    ASSERT_TRUE(has_ended(world));
    ASSERT_EQ(world.facts<TakenUp>().size(), 1u);
    EXPECT_TRUE(is_replayed(world));
    with_child += world.sessions().size() > 1 ? 1 : 0;
  }
  EXPECT_GT(with_child, 3);
}

// What was given up goes on when more is said.
TEST(AReplayOfATreeThatWasGivenUp, GivesWhatWasSaidThenAgain) {
  ReplayWorld world(a_child_that_asks_the_person);
  prepare(world);
  world.options.crash = {.at_record = 4};
  EXPECT_FALSE(world.run());
  world.give_up(1h);
  world.options.crash = {};
  world.away = 2h;
  ASSERT_TRUE(world.say("go on after all"));
  EXPECT_TRUE(is_replayed(world));
}

TEST(AReplayOfADeathInACompaction, GivesTheSameEvents) {
  int met = 0;
  for (int record = 1; !testing::Test::HasFailure(); ++record) {
    SCOPED_TRACE(fmt::format("it dies at record {} of the compaction", record));
    ASSERT_LT(record, kMoreRecordsThanThereAre);
    ReplayWorld world(
        [](const Scene& scene) -> Act { return {.text = fmt::format("reply {}", scene.step), .after = 2s}; });
    ASSERT_TRUE(world.run());
    world.away = 1min;
    ASSERT_TRUE(world.say("and then?"));
    world.away = 2min;
    world.options.crash = {.at_record = record};
    if (world.say("", std::nullopt, RunTask::compact)) break;
    world.options.crash = {};
    world.away = 1h;
    (void)world.resume(2);
    if (world.facts<Compacted>().empty()) continue;  // it died before that was wished for
    ++met;
    EXPECT_TRUE(is_replayed(world));
  }
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace deputy
