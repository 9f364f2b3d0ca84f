// The limits of a tree as the contract states them: at each, one past it, none and zero.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Limits : public testing::Test {
 protected:
  // All that the model of the session with this label was told by its calls.
  std::string told(std::string_view label) const {
    std::string all;
    for (const auto& event : world_.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && world_.memory->sessions.at(event.run.session).label == label)
        all += finished->result.content + "\n";
    }
    return all;
  }
  static Profile delegating(std::string name, std::vector<std::string> to) {
    return {.name = std::move(name),
            .description = "hands on",
            .instructions = "hand it on",
            .tools = {"Read"},
            .subagents = std::move(to),
            .workspace = WorkspaceMode::read_only};
  }
  // a, b, c and d, each of which hands on to the next.
  static std::vector<Profile> chain() {
    return {delegating("a", {"b"}), delegating("b", {"c", "a"}), delegating("c", {"d"}), delegating("d", {})};
  }
  static std::string hands_on(std::string_view from, std::string_view to) {
    return fmt::format(
        R"({{"match":{{"agent":"{}"}},"replies":[{{"calls":[{{"name":"task","arguments":{{"agent":"{}","prompt":"p"}}}}]}},{{"text":"over"}}]}})",
        from, to);
  }
  static std::string script(const std::vector<std::string>& sessions) {
    return fmt::format(R"({{"v":1,"sessions":[{}]}})", fmt::join(sessions, ","));
  }
  static std::string batch(int tasks, std::string_view replies = R"([{"text":"done"}])") {
    std::string list;
    for (int i = 0; i < tasks; ++i)
      list += fmt::format(R"({}{{"label":"t{}","prompt":"p"}})", i ? "," : "", i);
    return script(
        {fmt::format(
             R"({{"match":{{"agent":"main"}},"replies":[{{"calls":[{{"name":"Delegate","arguments":{{"tasks":[{}],"concurrency":4}}}}]}},{{"text":"over"}}]}})",
             list),
         fmt::format(R"({{"match":{{"agent":"reader"}},"replies":{}}})", replies)});
  }
  Result<Report> go(Life::Options options) {
    Life life(world_, std::move(options));
    auto report = life.start(life.brief("go"));
    EXPECT_TRUE(report) << report.error().message;
    return report;
  }
  std::size_t children() const { return world_.sessions().size() - 1; }
  long runs_of_children() const {
    return std::ranges::count_if(world_.memory->journal, [this](const Event& event) {
      return std::holds_alternative<RunStarted>(event.fact) &&
             world_.memory->sessions.at(event.run.session).parent;
    });
  }

  SimWorld world_;
};

TEST_F(Limits, AChildAtDepthThreeIsLegalAndOneAtDepthFourIsRefused) {
  world_.script = script({hands_on("main", "a"), hands_on("a", "b"), hands_on("b", "c"), hands_on("c", "d"),
                          R"({"match":{"agent":"d"},"replies":[{"text":"deep"}]})"});
  ASSERT_TRUE(go({.profiles = chain()}));
  EXPECT_EQ(children(), 3u);
  EXPECT_EQ(world_.session_labelled("c")->depth, 3);
  EXPECT_THAT(told("c"), AllOf(HasSubstr("depth exceeded"), HasSubstr("depth 4"), HasSubstr("limit is 3"),
                               HasSubstr("--max-depth")));
  EXPECT_EQ(world_.session_labelled("c")->state, SessionState::completed) << "a refusal is not its end";

  world_ = SimWorld();
  world_.script = script({hands_on("main", "a"), hands_on("a", "b"), hands_on("b", "c"), hands_on("c", "d"),
                          R"({"match":{"agent":"d"},"replies":[{"text":"deep"}]})"});
  ASSERT_TRUE(go({.limits = {.depth = 4}, .profiles = chain()}));
  EXPECT_EQ(world_.session_labelled("d")->depth, 4);
}

TEST_F(Limits, ACycleIsDetectedAndRefusedUnlessTheProfileIsReentrant) {
  world_.script = script({hands_on("main", "a"), hands_on("a", "b"), hands_on("b", "a")});
  ASSERT_TRUE(go({.profiles = chain()}));
  EXPECT_EQ(children(), 2u);
  EXPECT_THAT(told("b"), AllOf(HasSubstr("cycle"), HasSubstr("main → a → b"), HasSubstr("reentrant")));

  world_ = SimWorld();
  world_.script = script({hands_on("main", "a"), hands_on("a", "b"), hands_on("b", "a")});
  auto profiles = chain();
  profiles.front().reentrant = true;
  ASSERT_TRUE(go({.profiles = profiles}));
  EXPECT_EQ(children(), 3u);
}

TEST_F(Limits, BudgetExhaustionBlocksDelegation) {
  for (const int limit : {0, 1, 2, 3}) {
    world_ = SimWorld();
    world_.script = batch(2);
    ASSERT_TRUE(go({.limits = {.delegations = limit}}));
    EXPECT_EQ(children(), std::min(limit, 2)) << limit;
    if (limit < 2) {
      EXPECT_THAT(told("root"), AllOf(HasSubstr("budget exhausted"), HasSubstr("--max-delegations"),
                                      HasSubstr(fmt::format("{} of {} delegations", limit, limit))));
    }
  }
  world_ = SimWorld();
  world_.script = batch(8);
  ASSERT_TRUE(go({.limits = {.delegations = kUnlimited<int>}}));
  EXPECT_EQ(children(), 8u);
}

TEST_F(Limits, TheFirstTaskOfABatchHasTheLastDelegation) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    world_ = SimWorld();
    world_.write_file("large.txt", "of which the first has to wait\n");
    world_.script =
        script({R"({"match":{"agent":"main"},"replies":[{"calls":[{"name":"Delegate","arguments":{"tasks":[
             {"label":"first","prompt":"p","context":["large.txt"]},{"label":"second","prompt":"p"},
             {"label":"third","prompt":"p"}],"concurrency":4}}]},{"text":"over"}]})",
                R"({"match":{"agent":"reader"},"replies":[{"text":"done"}]})"});
    ASSERT_TRUE(go({.seed = seed, .limits = {.delegations = 1}}));
    ASSERT_EQ(children(), 1u);
    EXPECT_TRUE(world_.session_labelled("first")) << "seed " << seed;
    EXPECT_THAT(told("root"), AllOf(HasSubstr("### [first] ✓"), HasSubstr("### [second] ✗ error")));
  }
}

TEST_F(Limits, DepthExceededAtMaxZero) {
  world_.script = script({hands_on("main", "explore")});
  ASSERT_TRUE(go({.limits = {.depth = 0}}));
  EXPECT_EQ(children(), 0u);
  EXPECT_THAT(told("root"), HasSubstr("depth exceeded"));
}

TEST_F(Limits, NestedDelegationStopsAtMaxDepthAndTheRunsGoOn) {
  world_.script = script({hands_on("main", "a"), hands_on("a", "b")});
  const auto report = go({.limits = {.depth = 1}, .profiles = chain()});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(children(), 1u);
  EXPECT_THAT(told("a"), HasSubstr("depth exceeded"));
}

TEST_F(Limits, AnUnknownAgentIsNotDeclaredAndTheKnownOnesAreNamed) {
  world_.script = script({hands_on("main", "ghost")});
  ASSERT_TRUE(go({.profiles = chain()}));
  EXPECT_THAT(told("root"), AllOf(HasSubstr("not declared"), HasSubstr("ghost"), HasSubstr("explore")));
}

TEST_F(Limits, ATasksOwnModelCannotBeTheCommandDriver) {
  world_.script = script(
      {R"({"match":{"agent":"main"},"replies":[{"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"x","prompt":"{\"tool\":\"Delegate\",\"arguments\":{}}","model":"command"}]}}]},{"text":"over"}]})"});
  ASSERT_TRUE(go({}));
  EXPECT_EQ(children(), 0u);
  EXPECT_THAT(told("root"), HasSubstr("unknown model 'command'"));
}

// At most so many at once; the others wait in line and get their turn.
int most_at_once(const SimWorld& world, int depth) {
  int now = 0;
  int most = 0;
  for (const auto& event : world.memory->journal) {
    if (world.memory->sessions.at(event.run.session).depth != depth) continue;
    if (std::holds_alternative<RunStarted>(event.fact)) most = std::max(most, ++now);
    if (std::holds_alternative<RunEnded>(event.fact)) --now;
  }
  return most;
}

TEST_F(Limits, PastTheLiveLimitsChildrenWaitForASlot) {
  for (const int limit : {1, 2, 3}) {
    world_ = SimWorld();
    world_.script = batch(8, R"([{"text":"done","first_byte_ms":50}])");
    ASSERT_TRUE(go({.limits = {.live_children = limit}}));
    EXPECT_EQ(children(), 8u);
    EXPECT_EQ(most_at_once(world_, 1), limit);
    world_ = SimWorld();
    world_.script = batch(8, R"([{"text":"done","first_byte_ms":50}])");
    ASSERT_TRUE(go({.limits = {.live_sessions = limit}}));
    EXPECT_EQ(children(), 8u);
    EXPECT_EQ(most_at_once(world_, 1), limit);
  }
}

TEST_F(Limits, ASessionThatWaitsForItsChildrenHoldsNoSlot) {
  world_.script = script({hands_on("main", "a"), hands_on("a", "b"), hands_on("b", "c"),
                          R"({"match":{"agent":"c"},"replies":[{"text":"deep"}]})"});
  const auto report = go({.limits = {.live_children = 1, .live_sessions = 1}, .profiles = chain()});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(children(), 3u);
  bool has_waited = false;
  for (const auto& event : world_.memory->journal) {
    const auto* changed = std::get_if<StateChanged>(&event.fact);
    has_waited = has_waited || (changed && changed->state == SessionState::waiting);
  }
  EXPECT_TRUE(has_waited) << "the registry shows it";
}

TEST_F(Limits, ACancelledParentAdmitsNoChildAndWhatItReservedComesBack) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    world_ = SimWorld();
    world_.script = batch(8, R"([{"text":"done","first_byte_ms":50}])");
    Life life(world_, {.seed = seed, .limits = {.live_children = 2}});
    life.after_event(13, [](Runtime& runtime) { runtime.cancel(StopReason::user); });
    const auto report = life.start(life.brief("go"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, Status::cancelled);
    EXPECT_LE(runs_of_children(), 3) << "seed " << seed << ": one was started after the stop";
    EXPECT_EQ(used_by(world_.memory->journal).delegations, runs_of_children()) << "seed " << seed;
  }
}

TEST_F(Limits, AThousandChildrenThroughOneTreeLeakNoSlot) {
  std::string calls;
  for (int i = 0; i < 125; ++i) {
    std::string tasks;
    for (int n = 0; n < 8; ++n) tasks += fmt::format(R"({}{{"label":"t{}","prompt":"p"}})", n ? "," : "", n);
    calls += fmt::format(R"({}{{"name":"Delegate","arguments":{{"tasks":[{}],"concurrency":4}}}})",
                         i ? "," : "", tasks);
  }
  world_.script = script(
      {fmt::format(R"({{"match":{{"agent":"main"}},"replies":[{{"calls":[{}]}},{{"text":"over"}}]}})", calls),
       R"({"match":{"agent":"reader"},"replies":[{"text":"done"}]})"});
  Life life(world_, {.limits = {.delegations = kUnlimited<int>, .live_children = 64, .live_sessions = 65}});
  int most = 0;
  std::optional<int> at_its_end;  // of the root, when all its children have ended
  life.runtime().subscribe([&](const Event& event, const EventOrigin& origin) {
    most = std::max(most, life.runtime().places_taken());
    const auto* reply = std::get_if<ReplyReceived>(&event.fact);
    if (reply && origin.parent.empty() && reply->reply.message.text == "over")
      at_its_end = life.runtime().places_taken();
  });
  const auto report = life.start(life.brief("go"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(most, 64) << "the root, which waits, has none";
  EXPECT_EQ(at_its_end, 1) << "its own";
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(children(), 1000u);
  for (const auto& session : world_.sessions()) ASSERT_EQ(session.state, SessionState::completed);
}

// Time.

TEST_F(Limits, TimeoutIsPartialWithWhatExistsAndTheSessionCanBeResumed) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) {
      if (scene.is_told("go on")) return {.text = "all of it", .after = std::chrono::minutes(50)};
      if (scene.step == 0) return {.calls = {call_of("Note", R"({"content":"half of it"})")}};
      return {.text = "too late", .after = std::chrono::hours(2)};
    }
    if (scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"explore","prompt":"p","timeout":3600})")}};
    if (scene.step == 1)
      return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})",
                                                    scene.value_of("Session: ")))}};
    return {.text = "over"};
  });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << "a child's end is not its parent's";
  const auto told = world.results_of("task");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[0], AllOf(HasSubstr("Status: partial (timeout)"), HasSubstr("half of it"),
                             HasSubstr("resume " + world.child("explore").id.value + " with more time")));
  EXPECT_THAT(told[1], AllOf(HasSubstr("Status: completed"), HasSubstr("all of it")));
  EXPECT_EQ(world.child("explore").state, SessionState::completed);
}

TEST_F(Limits, AResumeThatALimitRefusesIsToldWhichInOneSentence) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "done"};
    if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"explore","prompt":"p"})")}};
    if (scene.step == 1)
      return {.calls = {call_of(
                  "task", fmt::format(R"({{"resume":"{}","prompt":"more"}})", scene.value_of("Session: ")))}};
    return {.text = "over"};
  });
  world.options.limits.delegations = 1;
  ASSERT_TRUE(world.run());
  const auto told = world.results_of("task");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[1], AllOf(HasSubstr("Not resumed: budget exhausted"), HasSubstr("1 of 1 delegations"),
                             HasSubstr("--max-delegations."), testing::Not(HasSubstr(".."))));
}

TEST_F(Limits, TheTimeOfTheWholeTreeIsThatOfAllItsRunsTogether) {
  const auto after = [](Duration thinks) {
    return [thinks](const Scene&) { return Act{.text = "said", .after = thinks}; };
  };
  DialogueWorld world(after(std::chrono::minutes(4)));
  world.options.limits.time = std::chrono::minutes(10);
  ASSERT_TRUE(world.run());
  world.away = std::chrono::hours(1);
  const auto second = world.say("again");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->status, Status::completed) << "eight of ten minutes";
  world.away = std::chrono::hours(2);
  const auto third = world.say("again");
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->reason, Reason::timeout) << "two were left";
}

TEST_F(Limits, OtherTermsOfTimeHoldForOneRunAndAreNotKept) {
  using std::chrono::hours;
  using std::chrono::minutes;
  struct Case {
    Duration time;
    minutes left;
    Reason third;
  };
  for (const Case& each : {Case{hours(1), minutes(2), Reason::timeout},
                           Case{Duration::max(), minutes(6), Reason::none}}) {  // then its time stands still
    DialogueWorld world([](const Scene&) { return Act{.text = "said", .after = minutes(4)}; });
    world.options.limits.time = minutes(10);
    ASSERT_TRUE(world.run());
    world.away = hours(1);
    TreeLimits other = world.options.limits;
    other.time = each.time;
    const auto second = world.say("again", other);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->status, Status::completed);
    const Session root = world.sessions().front();
    ASSERT_TRUE(root.deadline);
    EXPECT_LE(*root.deadline - *root.ended_at, each.left);
    EXPECT_GT(*root.deadline - *root.ended_at, each.left - std::chrono::seconds(1));
    world.away = hours(2);
    const auto third = world.say("again");
    ASSERT_TRUE(third) << third.error().message;
    EXPECT_EQ(third->reason, each.third);
  }
}

TEST_F(Limits, OtherTermsOfTimeHoldWhileTheyAreGiven) {
  DialogueWorld world([](const Scene&) { return Act{.text = "said", .after = std::chrono::minutes(8)}; });
  world.options.limits.time = std::chrono::minutes(10);
  ASSERT_TRUE(world.run());
  TreeLimits other = world.options.limits;
  other.time = std::chrono::minutes(20);
  world.away = std::chrono::hours(1);
  const auto second = world.say("again", other);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->status, Status::completed) << "sixteen of twenty minutes";
  world.away = std::chrono::hours(2);
  const auto third = world.say("again", other);
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->reason, Reason::timeout) << "four were left: they do not add up";
}

TEST_F(Limits, TheTimeOfTheWholeTreeEndsEverySessionOfIt) {
  world_.script =
      batch(2, R"([{"text":"done","first_byte_ms":7200000},{"text":"x","first_byte_ms":7200000}])");
  const auto report = go({.limits = {.time = std::chrono::minutes(10)}});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->reason, Reason::timeout);
  for (const auto& session : world_.sessions()) {
    EXPECT_EQ(session.state, SessionState::partial) << session.label;
    EXPECT_EQ(session.reason, Reason::timeout) << session.label;
    EXPECT_LE(*session.ended_at - *session.started_at, std::chrono::minutes(12)) << session.label;
  }
}

TEST_F(Limits, WhileASessionWaitsForAPersonItsDeadlineAndEveryAncestorsStandStill) {
  // The child asks before it writes; the person takes an hour, its time and the tree's are ten minutes.
  world_.script = script(
      {R"({"match":{"agent":"main"},"replies":[{"calls":[{"name":"task","arguments":{"agent":"general","prompt":"p","timeout":600}}]},{"text":"over"}]})",
       R"({"match":{"agent":"general"},"replies":[{"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"done","first_byte_ms":60000}]})"});
  world_.write_file("a.txt", "");
  Life life(world_, {.limits = {.time = std::chrono::minutes(10)}, .attendance = Attendance::person});
  life.runtime().subscribe([&life](const Event& event, const EventOrigin& origin) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked) return;
    const Duration takes =
        origin.agent == "general" ? Duration(std::chrono::hours(1)) : Duration(std::chrono::milliseconds(1));
    life.loop().timers().call_at(life.loop().clock().now() + takes, [&life, id = asked->question.id] {
      life.runtime().answer(id, {AnswerKind::approved, ""});
    });
  });
  const auto report = life.start(life.brief("go"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << report->body;
  EXPECT_EQ(world_.disk.files().at("/work/b.txt"), "x");
  const Session* child = world_.session_labelled("general");
  EXPECT_EQ(child->state, SessionState::completed);
  // Both were moved by the hour, and the registry says so.
  for (const auto& session : world_.sessions()) {
    ASSERT_TRUE(session.deadline) << session.label;
    EXPECT_GE(*session.deadline - *session.started_at, std::chrono::minutes(70)) << session.label;
    EXPECT_LT(*session.deadline - *session.started_at, std::chrono::minutes(71)) << session.label;
  }
}

TEST_F(Limits, WhileNobodyRunsATreeItsTimeStandsStill) {
  world_.script = batch(2, R"([{"text":"done","first_byte_ms":60000}])");
  {
    Life life(world_, {.limits = {.time = std::chrono::minutes(10)}});
    life.after_event(13, [](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
    EXPECT_FALSE(life.start(life.brief("go")));
  }
  Life second(world_, {.seed = 2});
  second.loop().manual_clock().jump_wall(std::chrono::hours(8));
  const auto report = second.resume(world_.sessions().front().id);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  const Session root = world_.sessions().front();
  EXPECT_GE(*root.deadline - *root.started_at, std::chrono::hours(8)) << "and the registry says so";
  EXPECT_LE(*root.deadline - *root.started_at, std::chrono::hours(8) + std::chrono::minutes(10));
}

TEST_F(Limits, TheTermsOfATreeAreKeptOverAResume) {
  world_.script = batch(4, R"([{"text":"done","first_byte_ms":50}])");
  {
    Life life(world_,
              {.crash = {.at_record = 4}, .limits = {.delegations = 2, .time = std::chrono::minutes(5)}});
    EXPECT_FALSE(life.start(life.brief("go")));
    ASSERT_TRUE(life.crashed());
  }
  Life second(world_, {.seed = 2});  // whose own limits are the usual ones
  const auto report = second.resume(world_.sessions().front().id);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(children(), 2u);
  EXPECT_THAT(told("root"), HasSubstr("2 of 2 delegations"));
  EXPECT_EQ(world_.sessions().front().limits->time, std::chrono::minutes(5));
}

TEST_F(Limits, APersonMayRaiseTheTermsOfATreeThatIsResumed) {
  world_.script = batch(4, R"([{"text":"done","first_byte_ms":50}])");
  const TreeLimits given{.delegations = 2, .time = std::chrono::minutes(5)};
  {
    Life life(world_, {.crash = {.at_record = 4}, .limits = given});
    EXPECT_FALSE(life.start(life.brief("go")));
    ASSERT_TRUE(life.crashed());
  }
  TreeLimits raised = given;
  raised.delegations = 4;
  Life second(world_, {.seed = 2});
  ASSERT_TRUE(second.resume(world_.sessions().front().id, raised));
  EXPECT_EQ(children(), 4u);
  EXPECT_EQ(world_.sessions().front().limits, given) << "what it was started with stays on record";
}

}  // namespace
}  // namespace deputy
