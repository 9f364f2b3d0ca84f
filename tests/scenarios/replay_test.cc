// A tree that ran in one world, replayed in another from its bundle alone: the same but for times and ids.
#include "app/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "a_compaction.h"
#include "replay_world.h"
#include "transcript/profile_codec.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Two children of one agent, who have one label; a tool that there is none of.
constexpr std::string_view kScript = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"general","prompt":"do the first"}},
              {"name":"task","arguments":{"agent":"general","prompt":"do the second"}}],"first_byte_ms":40},
    {"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"two\n"}}]},
    {"text":"Both are back."}]},
  {"match":{"agent":"general"},"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}},{"name":"Note","arguments":{"content":"seen"}}],"first_byte_ms":700},
    {"calls":[{"name":"Bash","arguments":{"command":"make"}}]},
    {"text":"It is done.","first_byte_ms":300}]}]})";

Bundle bundle_of(Life::Options options, const Rules& rules = {}) {
  SimWorld world;
  world.script = kScript;
  world.write_file("a.txt", "one\n");
  options.has_web = true;
  Life life(world, std::move(options));
  life.processes().define(
      "bash", [](const ProcessSpec&) { return ProcessResult{.exit_status = 2, .output = "made\n"}; },
      std::chrono::seconds(3));
  RootBrief root = life.brief("go");
  root.rules = rules;
  const auto report = life.start(std::move(root));
  EXPECT_TRUE(report) << report.error().message;
  const auto read = parse_bundle(bundle_text({{}, world.memory->journal}, {}));
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : Bundle{};
}

TEST(AReplay, GivesTheSameEvents) {
  const auto replayed = replay(bundle_of({}));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
  EXPECT_EQ(replayed->sessions, 3u);
  EXPECT_GT(replayed->events, 30u);
}

TEST(AReplay, OfAConversationThatWasCompactedForAnUnknownWindowIsRefused) {
  Bundle bundle = bundle_of({});
  bundle.events.push_back(bundle.events.back());
  bundle.events.back().fact = Compacted{{.message = {.text = "all of it"}}, 1};
  const auto replayed = replay(bundle);
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("a conversation was compacted"));
  EXPECT_FALSE(replayed.error().advice.empty());
}

TEST(AReplay, DoesNotExcuseADifferenceByACompactionThatItKnowsAllOf) {
  Bundle bundle = bundle_of({});
  bundle.events.push_back(bundle.events.back());
  bundle.events.back().fact = Compacted{{.message = {.text = "all of it"}}, 1};
  const auto& root = std::get<SessionCreated>(bundle.events.front().fact).session;

  Bundle with_window = bundle;
  with_window.about["windows"] = json::object{{root->model.value, 1'000'000}};
  Bundle wished = bundle;
  for (Event& event : wished.events) {
    auto* started = std::get_if<RunStarted>(&event.fact);
    if (started && event.run.session == root->id) started->task = RunTask::compact;
  }
  for (const Bundle& each : {with_window, wished}) {
    const auto replayed = replay(each);
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_FALSE(replayed->differences.empty());
  }
}

TEST(AReplay, TakesPricesFromTheBundle) {
  const Price price{.input = 2.5, .output = 7, .cache_write = 3};
  const auto read = price_in(price_json(price));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->input, price.input);
  EXPECT_EQ(read->output, price.output);
  EXPECT_EQ(read->cache_read, std::nullopt);
  EXPECT_EQ(read->cache_write, price.cache_write);
  EXPECT_FALSE(price_in({{"input", 1.0}}));
  EXPECT_FALSE(price_in({{"input", -1.0}, {"output", 1.0}}));
  EXPECT_FALSE(price_in({{"input", 1.0}, {"output", 1e300}}));
}

TEST(AReplay, GivesTheSameRefusals) {
  const Rules rules({{Decision::deny, "Bash", ""}, {Decision::allow, "Read", ""}});
  for (const Attendance attendance : {Attendance::nobody, Attendance::approves_all}) {
    const auto replayed = replay(bundle_of({.attendance = attendance}, rules));
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_THAT(replayed->differences, IsEmpty());
  }
}

TEST(AReplay, OfAReplyThatIsNoneSaysThatTheBundleIsBroken) {
  Bundle bundle = bundle_of({});
  for (Event& event : bundle.events)
    if (auto* received = std::get_if<ReplyReceived>(&event.fact)) received->reply.usage.input = -5;
  const auto replayed = replay(bundle);
  ASSERT_FALSE(replayed);
  EXPECT_EQ(replayed.error().code, ErrorCode::corrupt);
  EXPECT_THAT(replayed.error().message, HasSubstr("the bundle is broken"));
  EXPECT_FALSE(replayed.error().advice.empty());
}

TEST(AReplay, OfAnUnfinishedTreeGoesAsFarAsThatDid) {
  Bundle bundle = bundle_of({});
  const auto first_result = std::ranges::find_if(
      bundle.events, [](const Event& event) { return std::holds_alternative<CallFinished>(event.fact); });
  bundle.events.erase(first_result + 1, bundle.events.end());
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
}

TEST(AReplay, NamesTheEventThatIsAnother) {
  Bundle bundle = bundle_of({});
  const auto ended = std::find_if(bundle.events.rbegin(), bundle.events.rend(), [](const Event& event) {
    return std::holds_alternative<RunEnded>(event.fact);
  });
  ASSERT_NE(ended, bundle.events.rend());
  std::get<RunEnded>(ended->fact).report->body = "Nobody is back.";
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  ASSERT_EQ(replayed->differences.size(), 1u);
  EXPECT_THAT(replayed->differences[0], HasSubstr("session root, run 1, "));
  EXPECT_THAT(replayed->differences[0], HasSubstr("Nobody is back."));
}

TEST(AReplay, OfAnAgentThatIsNotKnownHereIsRefused) {
  Bundle bundle = bundle_of({});
  std::get<SessionCreated>(bundle.events.front().fact).session->agent = "of-another-project";
  const auto replayed = replay(bundle);
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("cannot be replayed"));
}

void expect_replayed(const Bundle& bundle) {
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
}

// What its journal says now, in a bundle and out of it again, and replayed.
void expect_replayed(const ReplayWorld& world, json::object about = {}) {
  const auto bundle = parse_bundle(bundle_text({std::move(about), world.world.memory->journal}, {}));
  ASSERT_TRUE(bundle) << bundle.error().message;
  expect_replayed(*bundle);
}

bool has_ended_for(const ReplayWorld& world, Reason reason) {
  return std::ranges::any_of(world.facts<RunEnded>(),
                             [reason](const RunEnded& ended) { return ended.report->reason == reason; });
}

Call child_that(std::string_view more) {
  return call_of("task", fmt::format(R"({{"agent":"general","prompt":"look"{}}})", more));
}
Call note(int step) { return call_of("Note", fmt::format(R"({{"content":"note {}"}})", step)); }

// A child that takes notes, each after `thinks`, and reports in its last step.
ActingModel::Play a_busy_child(std::string more, Duration thinks) {
  return [=](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0) return {.calls = {child_that(more)}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.is_told("This is your last step")) return {.text = "as far as I came", .after = 1s};
    return {.calls = {note(scene.step)}, .after = thinks};
  };
}

TEST(AReplay, GivesTheLastStepAtALimitAgain) {
  for (const auto& [more, reason] :
       {std::pair(R"(,"max_turns":3)", Reason::max_turns), std::pair(R"(,"timeout":10)", Reason::timeout)}) {
    ReplayWorld world(a_busy_child(more, 3s));
    ASSERT_TRUE(world.run());
    ASSERT_TRUE(has_ended_for(world, reason)) << more;
    expect_replayed(world);
  }
}

TEST(AReplay, GivesTheEndOfTheBudgetAgain) {
  ReplayWorld world(a_busy_child("", 3s));
  world.options.limits.steps = 6;
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(has_ended_for(world, Reason::budget));
  expect_replayed(world);
}

TEST(AReplay, GivesTheEndOfTheTreesTimeAgain) {
  ReplayWorld world(a_busy_child("", 7s));
  world.options.limits.time = 30s;
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(has_ended_for(world, Reason::timeout));
  expect_replayed(world);
}

TEST(AReplay, GivesAResumedChildAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) {
      if (scene.is_told("go on")) return {.text = "more", .after = 2s};
      if (scene.is_told("This is your last step")) return {.text = "found", .after = 1s};
      return {.calls = {note(scene.step)}, .after = 4s};
    }
    if (scene.step == 0) return {.calls = {child_that(R"(,"timeout":10)")}};
    if (scene.step == 1)
      return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})",
                                                    scene.value_of("Session: ")))}};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.child("general").run, 2);
  expect_replayed(world);
}

// As the command line does that goes on with a child by its id.
TEST(AReplay, GivesAFurtherInputAgainThatNamesAChild) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = scene.is_told("go on") ? "more" : "found"};
    if (scene.step == 0) return {.calls = {child_that("")}};
    if (const std::string id = scene.value_of("resume "); !id.empty() && scene.step == 2)
      return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})", id))}};
    return {.text = "over"};
  });
  world.options.seed = 7;  // so that its ids are others
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(world.say("resume " + world.child("general").id.value));
  ASSERT_EQ(world.child("general").run, 2);
  expect_replayed(world);
}

TEST(AReplay, KnowsAChildWhosePromptNamesAnother) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = 1s};
    if (scene.step == 0) return {.calls = {child_that("")}};
    if (scene.step == 1)
      return {.calls = {call_of("task", fmt::format(R"({{"agent":"explore","prompt":"go on after {}"}})",
                                                    scene.value_of("Session: ")))}};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.sessions().size(), 3u);
  expect_replayed(world);
}

TEST(AReplay, TellsSiblingsApartThatWereToldTheSame) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0) return {.calls = {child_that(""), child_that("")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"which"})")}, .after = 1s};
    return {.text = scene.is_told("first") ? "I was first" : "I was second", .after = 1s};
  });
  world.rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
  world.programs = [](SimProcesses& processes) {
    processes.define(
        "bash",
        [ran = std::make_shared<int>(0)](const ProcessSpec&) {
          return ProcessResult{.exit_status = 0, .output = (*ran)++ == 0 ? "first\n" : "second\n"};
        },
        1s);
  };
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.sessions().size(), 3u);
  ASSERT_THAT(world.heard_by_root(), testing::AllOf(HasSubstr("I was first"), HasSubstr("I was second")));
  expect_replayed(world);
}

TEST(AReplay, GivesAConversationAgainThatThePersonCompacted) {
  ReplayWorld world(
      [](const Scene& scene) -> Act { return {.text = fmt::format("reply {}", scene.step), .after = 2s}; });
  ASSERT_TRUE(world.run());
  world.away = 1min;
  ASSERT_TRUE(world.say("and then?"));
  world.away = 2min;
  ASSERT_TRUE(world.say("", std::nullopt, RunTask::compact));
  ASSERT_EQ(world.facts<Compacted>().size(), 1u);
  world.away = 3min;
  ASSERT_TRUE(world.say("what was it about?"));
  expect_replayed(world);
  world.away = 4min;
  ASSERT_TRUE(world.say("", std::nullopt, RunTask::undo_compaction));
  expect_replayed(world);
}

class AReplayOfACompaction : public Compaction {};

TEST_F(AReplayOfACompaction, GivesTheSameEventsWhereTheWindowIsKnown) {
  Life::Options with_web = options();
  with_web.has_web = true;
  Life life(*kept, std::move(with_web));
  RootBrief root = life.brief("read them all");
  root.model = ModelName("small/x");
  ASSERT_TRUE(life.start(std::move(root)));
  ASSERT_FALSE(compactions().empty());
  const json::object about{{"windows", json::object{{"small/x", kWindow}}}};
  const auto bundle = parse_bundle(bundle_text({about, kept->memory->journal}, {}));
  ASSERT_TRUE(bundle) << bundle.error().message;
  const auto replayed = replay(*bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
}

// Calls `act` once, while the child waits for its second reply.
std::function<void(Runtime&, const Event&)> in_second_request(
    std::function<void(Runtime&, const SessionId& child)> act) {
  return [act, is_done = false](Runtime& runtime, const Event& event) mutable {
    const bool is_it = std::holds_alternative<BudgetReserved>(event.fact) && event.step == 1 &&
                       event.run.session != event.tree;
    if (is_it && !std::exchange(is_done, true)) act(runtime, event.run.session);
  };
}

TEST(AReplay, GivesTheCancelOfAChildAgain) {
  ReplayWorld world(a_busy_child("", 3s));
  world.on_event = in_second_request(
      [](Runtime& runtime, const SessionId& child) { runtime.cancel(child, StopReason::user); });
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(has_ended_for(world, Reason::cancelled_by_user));
  expect_replayed(world);
}

TEST(AReplay, GivesTheCancelOfTheWholeAgain) {
  ReplayWorld world(a_busy_child("", 3s));
  world.on_event =
      in_second_request([](Runtime& runtime, const SessionId&) { runtime.cancel(StopReason::user); });
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(has_ended_for(world, Reason::cancelled_by_user));
  expect_replayed(world);
}

TEST(AReplay, GivesTheEndOfTheProcessAgain) {
  ReplayWorld world(a_busy_child("", 3s));
  world.on_event =
      in_second_request([](Runtime& runtime, const SessionId&) { runtime.cancel(StopReason::terminated); });
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(has_ended_for(world, Reason::cancelled_by_user));
  expect_replayed(world);
}

TEST(AReplay, GivesTheWordsOfThePersonAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0) return {.calls = {child_that("")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.step == 3) return {.text = "done"};
    return {.calls = {note(scene.step)}, .after = 3s};
  });
  world.on_event = in_second_request(
      [](Runtime& runtime, const SessionId& child) { runtime.nudge(child, "look at b too"); });
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.facts<Nudged>().size(), 1u);
  expect_replayed(world);
}

TEST(AReplay, GivesAChildThatWasSentToTheBackgroundAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0) return {.calls = {child_that("")}};
    if (scene.depth == 0) return {.text = "over", .after = 1s};
    if (scene.step == 2) return {.text = "done"};
    return {.calls = {note(scene.step)}, .after = 5s};
  });
  world.on_event =
      in_second_request([](Runtime& runtime, const SessionId& child) { runtime.send_to_background(child); });
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.facts<Detached>().size(), 1u);
  expect_replayed(world);
}

TEST(AReplay, GivesATreeThatWasLeftAndResumedAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0) return {.calls = {child_that(R"(,"timeout":60)")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.step == 3) return {.text = "done"};
    return {.calls = {note(scene.step)}, .after = 10s};
  });
  world.options.limits.time = 120s;
  world.on_event =
      in_second_request([](Runtime& runtime, const SessionId&) { runtime.cancel(StopReason::shutdown); });
  EXPECT_FALSE(world.run());
  world.away = 1h;
  ASSERT_TRUE(world.resume(2));
  expect_replayed(world);
}

TEST(AReplay, GivesQuestionsAndTheirAnswersAgain) {
  for (const AnswerKind kind : {AnswerKind::approved, AnswerKind::refused}) {
    ReplayWorld world([](const Scene& scene) -> Act {
      if (scene.depth == 0 && scene.step == 0) return {.calls = {child_that("")}};
      if (scene.depth == 0) return {.text = "over"};
      if (scene.step == 0) return {.calls = {call_of("Write", R"({"file_path":"b.txt","content":"x"})")}};
      return {.text = "done", .after = 2s};
    });
    world.options.attendance = Attendance::person;
    world.before_answer = 90s;
    world.rules = Rules({{Decision::allow, "task", ""}, {Decision::ask, "Write", ""}});
    world.on_question = [kind](Runtime& runtime, const Question& question) {
      runtime.answer(question.id, {kind, "as you like"});
    };
    ASSERT_TRUE(world.run());
    ASSERT_EQ(world.facts<QuestionAnswered>().size(), 1u);
    expect_replayed(world);
  }
}

// Nobody when it is started and when it is resumed, the person for what is said then.
TEST(AReplay, KnowsWhoWasThereWhenItWasGoneOnWith) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.step % 2 == 1) return {.text = "over", .after = 2s};
    return {.calls = {call_of("Write", R"({"file_path":"b.txt","content":"x"})")}, .after = 2s};
  });
  world.rules = Rules({{Decision::ask, "Write", ""}});
  world.options.attendance = Attendance::nobody;
  world.options.crash = {.at_record = 3};
  EXPECT_FALSE(world.run());
  world.options.crash = {};
  world.away = 1h;
  ASSERT_TRUE(world.resume(2));
  world.options.attendance = Attendance::person;
  world.on_question = [](Runtime& runtime, const Question& question) {
    runtime.answer(question.id, {AnswerKind::approved, "as you like"});
  };
  world.away = 2h;
  ASSERT_TRUE(world.say("now do it"));
  const auto answers = world.facts<QuestionAnswered>();
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.front().answer.kind, AnswerKind::nobody);
  EXPECT_EQ(answers.back().answer.by, Source::person);
  expect_replayed(world);
}

TEST(AReplay, GivesACommandThatWentOnAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0)
      return {.calls = {call_of("Bash", R"({"command":"make","run_in_background":true})")}};
    if (scene.step == 1) return {.calls = {call_of("task_status", R"({"wait_seconds":60})")}, .after = 1s};
    return {.text = "over"};
  });
  world.rules = Rules({{Decision::allow, "Bash", ""}});
  world.programs = [](SimProcesses& processes) {
    processes.define(
        "bash", [](const ProcessSpec&) { return ProcessResult{.exit_status = 2, .output = "made\n"}; }, 20s);
  };
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.facts<CommandEnded>().size(), 1u);
  expect_replayed(world);
}

// That its program died is no excuse for another end.
void expect_named_where_it_ends_otherwise(Bundle bundle) {
  const auto ended = std::find_if(bundle.events.rbegin(), bundle.events.rend(), [](const Event& event) {
    return std::holds_alternative<RunEnded>(event.fact);
  });
  ASSERT_NE(ended, bundle.events.rend());
  std::get<RunEnded>(ended->fact).report->body = "another end";
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  ASSERT_EQ(replayed->differences.size(), 1u);
  EXPECT_THAT(replayed->differences[0], HasSubstr("another end"));
}

// While the person was asked: who takes the tree up asks again.
TEST(AReplay, GivesATreeWhoseProgramDiedInTheMiddleAgain) {
  int asked_twice = 0;
  for (int record = 1;; ++record) {
    SCOPED_TRACE(fmt::format("it dies at record {}", record));
    ReplayWorld world([](const Scene& scene) -> Act {
      if (scene.step == 0)
        return {.calls = {call_of("Write", R"({"file_path":"b.txt","content":"x"})")}, .after = 2s};
      return {.text = "done", .after = 2s};
    });
    world.options.attendance = Attendance::person;
    world.options.crash = {.at_record = record};
    world.rules = Rules({{Decision::ask, "Write", ""}});
    world.on_question = [](Runtime& runtime, const Question& question) {
      runtime.answer(question.id, {AnswerKind::approved, "as you like"});
    };
    world.away = 1h;
    const auto ended = world.run_through_crash();
    if (!ended) break;
    if (world.facts<QuestionAsked>().size() < 2) continue;
    ASSERT_TRUE(*ended) << ended->error().message;
    ++asked_twice;
    ASSERT_EQ(world.facts<TakenUp>().size(), 1u);
    expect_replayed(world);
    expect_named_where_it_ends_otherwise({{}, world.world.memory->journal});
  }
  EXPECT_GT(asked_twice, 0);
}

// What is said of a tree that came out otherwise, and for no defect; "" where it came out the same.
std::string why_not_replayed(const ReplayWorld& world) {
  const auto replayed = replay({{}, world.world.memory->journal});
  if (!replayed) return replayed.error().message;
  EXPECT_THAT(replayed->differences, testing::IsEmpty());
  return "";
}

// Three steps, under other limits than those of its start from the third record on.
ActingModel::Play a_reader() {
  return [](const Scene& scene) -> Act {
    if (scene.step == 3 || scene.is_told("This is your last step")) return {.text = "over"};
    const std::string file = fmt::format(R"({{"file_path":"{}.txt"}})", scene.step);
    return {.calls = {call_of("Read", file)}, .after = 20s};
  };
}

TEST(AReplay, GivesATreeAgainThatWasResumedUnderOtherLimits) {
  TreeLimits few;
  few.steps = 2;
  TreeLimits more;
  more.steps = 20;
  TreeLimits brief;
  brief.time = 10s;
  for (const auto& [before, then, end] : {std::tuple(few, more, Reason::none),
                                          {more, few, Reason::budget},
                                          {TreeLimits{}, brief, Reason::timeout}}) {
    ReplayWorld world(a_reader());
    world.options.limits = before;
    world.options.crash = {.at_record = 3};
    EXPECT_FALSE(world.run());
    world.away = 1h;
    ASSERT_TRUE(world.resume(2, then));
    ASSERT_TRUE(has_ended_for(world, end));
    expect_replayed(world);
  }
}

TEST(AReplay, GivesATreeAgainThatWasResumedUnderItsOwnLimitsAfterOthers) {
  ReplayWorld world(a_reader());
  world.options.limits.steps = 2;
  world.options.crash = {.at_record = 2};
  EXPECT_FALSE(world.run());
  world.away = 1h;
  EXPECT_FALSE(world.resume(2, TreeLimits{.steps = 20}, {.at_record = 2}));
  world.away = 2h;
  ASSERT_TRUE(world.resume(3));
  ASSERT_TRUE(has_ended_for(world, Reason::budget));
  expect_replayed(world);
}

TEST(AReplay, GivesAFurtherInputAgainUnderOtherLimits) {
  ReplayWorld world(
      [](const Scene& scene) -> Act { return {.text = fmt::format("reply {}", scene.step), .after = 2s}; });
  world.options.limits.steps = 1;
  ASSERT_TRUE(world.run());
  world.away = 1min;
  ASSERT_TRUE(world.say("and then?", TreeLimits{.steps = 2}));
  world.away = 2min;
  ASSERT_TRUE(world.say("and now?"));
  ASSERT_TRUE(has_ended_for(world, Reason::budget));
  expect_replayed(world);
}

// To the child, and to the root, which waits for it.
TEST(AReplay, GivesWordsAgainThatWereLeftWhileNobodyRanTheTree) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = scene.is_told("be quick") ? "quick" : "slow", .after = 20s};
    if (scene.step == 0) return {.calls = {child_that("")}};
    return {.text = scene.is_told("and brief") ? "brief" : "long"};
  });
  world.on_event = [&](Runtime& runtime, const Event&) {
    if (world.sessions().size() == 2) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  world.on_event = {};
  world.leave_word("general", "be quick");
  world.leave_word("general", "very quick");
  world.leave_word("root", "and brief");
  world.away = 1h;
  ASSERT_TRUE(world.resume(2));
  ASSERT_EQ(world.facts<Nudged>().size(), 3u);
  ASSERT_THAT(world.heard_by_root(), HasSubstr("quick"));
  expect_replayed(world);
}

// Its agents are none that are built in: one that may hand work to another alone, takes two steps, and must
// report in a form of its own.
TEST(AReplay, GivesAgentsOfTheProjectAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0)
      return scene.step == 0 ? Act{.calls = {call_of("task", R"({"agent":"lead","prompt":"look"})")}}
                             : Act{.text = "over"};
    if (scene.agent == "scout")
      return scene.step < 2 ? Act{.calls = {note(scene.step)}, .after = 2s} : Act{.text = "as far as I came"};
    if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"general","prompt":"look"})")}};
    if (scene.step == 1) return {.calls = {call_of("task", R"({"agent":"scout","prompt":"look"})")}};
    if (scene.step == 2) return {.text = "plain words will not do"};
    return {.calls = {call_of("task_completion", R"({"status":"success","summary":"seen","answer":42})")}};
  });
  Profile lead;
  lead.name = "lead";
  lead.description = "leads";
  lead.tools = {"Read", "Note"};
  lead.subagents = {"scout"};
  lead.returns = Returns::report;
  Profile scout;
  scout.name = "scout";
  scout.description = "goes ahead";
  scout.tools = {"Read", "Note"};
  scout.max_turns = 2;
  world.options.profiles = {lead, scout};
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.sessions().size(), 3u);
  ASSERT_TRUE(has_ended_for(world, Reason::max_turns));
  EXPECT_THAT(why_not_replayed(world), HasSubstr("the agent lead is not built in"));

  Profiles known = Profiles::built_in();
  for (const Profile& each : world.options.profiles) known.add(each);
  const json::array agents = agents_json(known, world.world.memory->journal);
  EXPECT_EQ(agents.size(), 2u) << "and none of the built-in ones";
  expect_replayed(world, {{"agents", agents}});
}

TEST(AReplay, GivesTheListOfToolsAgainForACallOfNoneOfThem) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("WebSearsh", R"({"query":"x"})")}};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  ASSERT_THAT(world.heard_by_root(), testing::ContainsRegex("no tool named 'WebSearsh'.*, WebSearch"));
  expect_replayed(world);
}

// One in a folder, one by its whole path and without a line break at its end, and one that there is not.
TEST(AReplay, PutsFilesBeforeAPromptAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = scene.is_told("it is red") ? "red" : "none"};
    if (scene.step > 0) return {.text = "over"};
    return {.calls = {call_of("Delegate", R"({"tasks":[
      {"label":"a","prompt":"which colour?","context":["docs/colour.txt","/work/b.txt"]},
      {"label":"b","prompt":"which number?"},
      {"label":"c","prompt":"which form?","context":["absent.txt"]}]})")}};
  });
  ASSERT_TRUE(world.world.disk.open("/work/docs", IfAbsent::create));
  world.world.write_file("docs/colour.txt", "it is red\n");
  world.world.write_file("b.txt", "and large");
  world.rules = Rules({{Decision::allow, "Delegate", ""}});
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.sessions().size(), 3u);
  ASSERT_THAT(world.heard_by_root(), testing::AllOf(HasSubstr("red"), HasSubstr("absent.txt")));
  expect_replayed(world);
}

// One child has left work on its branch, another nothing, a third only what git ignores; and one goes on.
TEST(AReplay, GivesWorkInWorktreesAgain) {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "did it", .after = 2s};
    if (scene.step < 3) return {.calls = {call_of("task", R"({"agent":"worker","prompt":"work"})")}};
    const std::string id = scene.value_of("Session: ");
    if (scene.step == 3)
      return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})", id))}};
    return {.text = "over"};
  });
  Profile worker;
  worker.name = "worker";
  worker.tools = {"Read", "Note"};
  worker.workspace = WorkspaceMode::worktree;
  world.options.profiles = {worker};
  int made = 0;
  world.programs = [&](SimProcesses& processes) {
    processes.define("git", [&](const ProcessSpec& spec) -> ProcessResult {
      const auto has = [&spec](std::string_view word) {
        return std::ranges::find(spec.argv, word) != spec.argv.end();
      };
      const std::string& here = spec.folder->path();
      if (has("worktree") && has("add")) {
        EXPECT_TRUE(world.world.disk.open(spec.argv.at(spec.argv.size() - 2), IfAbsent::create));
        ++made;
      }
      if (has("rev-parse")) return {.output = "c0ffee\n"};
      if (has("symbolic-ref")) return {.output = "deputy/" + here.substr(here.rfind("sess_")) + "\n"};
      if (has("diff") && !has("--cached") && made == 1) return {.output = "+work\n"};
      if (has("status") && made == 3) return {.output = "!! built\n"};
      return {};
    });
  };
  ASSERT_TRUE(world.run());
  std::vector<WorkspaceOutcome> left;
  for (const RunEnded& ended : world.facts<RunEnded>())
    if (ended.report->workspace.mode == WorkspaceMode::worktree) left.push_back(ended.report->workspace);
  ASSERT_EQ(left.size(), 4u);
  EXPECT_EQ(left[0].diff, "+work");
  EXPECT_TRUE(left[1].path.empty());
  EXPECT_FALSE(left[2].path.empty());
  EXPECT_TRUE(left[2].diff.empty());
  expect_replayed(world, {{"agents", json::array{to_json(worker)}}});
}

TEST(AReplay, SaysWhatItCannotRepeatAndDoesNotCallItADefect) {
  Bundle bundle = bundle_of({});
  auto ended = std::ranges::find_if(
      bundle.events, [](const Event& event) { return std::holds_alternative<CallFinished>(event.fact); });
  ASSERT_NE(ended, bundle.events.end());
  Event again = *ended;
  again.fact = Nudged{.id = "lost", .source = Source::runtime, .text = "The background command is lost"};
  again.call = -1;
  bundle.events.insert(ended + 1, again);
  const auto replayed = replay(bundle);
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("its program ended in the middle"));
  EXPECT_THAT(replayed.error().message, HasSubstr("goes another way from here: session root"));
  EXPECT_FALSE(replayed.error().advice.empty());
}

}  // namespace
}  // namespace deputy
