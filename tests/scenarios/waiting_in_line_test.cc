// Children that wait for a place to run: they stand in the registry, their time has not begun, and a stop
// ends them as it ends the others.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "delegation/budget.h"
#include "support/dialogue_world.h"
#include "transcript/mail.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// One place for children; the root starts `children` of them at once, and each thinks for 200 s.
ActingModel::Play all_at_once(int children, std::string more) {
  return [=](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = 200s};
    if (scene.step > 0) return {.text = "over"};
    Act act;
    for (int i = 0; i < children; ++i)
      act.calls.push_back(
          call_of("task", fmt::format(R"({{"agent":"explore","prompt":"p","timeout":300{}}})", more)));
    return act;
  };
}
constexpr auto kBeside = R"(,"run_in_background":true)";

std::vector<Session> children_of(const DialogueWorld& world) {
  std::vector<Session> found;
  for (const Session& session : world.sessions()) {
    if (session.parent) found.push_back(session);
  }
  return found;
}

class InLine : public testing::TestWithParam<const char*> {};

TEST_P(InLine, AChildsTimeBeginsWhenItDoes) {
  DialogueWorld world(all_at_once(3, GetParam()));
  world.options.limits.live_children = 1;
  ASSERT_TRUE(world.run());
  ASSERT_EQ(children_of(world).size(), 3u);
  for (const Session& child : children_of(world)) {
    EXPECT_EQ(child.state, SessionState::completed);
    EXPECT_EQ(*child.deadline - *child.started_at, 300s);
  }
  world.expect_sound("");
}

TEST_P(InLine, SoItDoesAfterARestart) {
  DialogueWorld world(all_at_once(2, GetParam()));
  world.options.limits.live_children = 1;
  {
    world.on_event = [&world](Runtime& runtime, const Event& event) {
      if (std::holds_alternative<RunStarted>(event.fact) && event.run.session != world.sessions().front().id)
        runtime.cancel(StopReason::shutdown);
    };
    EXPECT_FALSE(world.run());
    world.on_event = {};
  }
  world.away = 8h;
  ASSERT_TRUE(world.resume(2));
  for (const Session& child : children_of(world)) EXPECT_EQ(child.state, SessionState::completed);
}

TEST_P(InLine, AChildStandsInTheRegistryAndWaitsForAPlace) {
  DialogueWorld world(all_at_once(3, GetParam()));
  world.options.limits.live_children = 1;
  int seen = 0;
  world.on_event = [&](Runtime& runtime, const Event& event) {
    if (!std::holds_alternative<ReplyReceived>(event.fact)) return;
    const auto live = runtime.store().sessions({.unfinished_only = true});
    ASSERT_TRUE(live);
    seen = std::max(seen, static_cast<int>(std::ranges::count_if(*live, [](const Session& session) {
                      return session.state == SessionState::waiting && session.wait->owner == kPlace;
                    })));
  };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(seen, 2);
}

TEST_P(InLine, AStopCancelsItAndItWasNoDelegation) {
  DialogueWorld world(all_at_once(3, GetParam()));
  world.options.limits.live_children = 1;
  world.on_event = [&world](Runtime& runtime, const Event& event) {
    const bool is_child = event.run.session != world.sessions().front().id;
    if (is_child && std::holds_alternative<InputGiven>(event.fact)) runtime.cancel(StopReason::user);
  };
  ASSERT_TRUE(world.run());
  ASSERT_GE(children_of(world).size(), 2u);
  for (const Session& child : children_of(world)) {
    EXPECT_EQ(child.state, SessionState::cancelled);
    EXPECT_EQ(child.reason, Reason::cancelled_by_user);
    EXPECT_THAT(world.world.disk.files()["/home/errors.jsonl"], HasSubstr(child.id.value));
  }
  EXPECT_EQ(used_by(world.world.memory->journal).delegations, 1);
}

INSTANTIATE_TEST_SUITE_P(Awaited, InLine, testing::Values("", kBeside));

// The first child has ended, a second one holds the only place for 20 s, and the first is to go on: it waits
// in line.
Act resumed_in_line(const Scene& scene, std::string_view where, std::string_view first = "") {
  if (scene.depth > 0 && scene.heard.contains("hold")) {
    if (scene.step == 0) return {.calls = {call_of("Glob", R"({"pattern":"*"})")}, .after = 10s};
    return {.text = "held", .after = 10s};
  }
  if (scene.depth > 0 && scene.heard.contains("go on"))
    return {.text = "went on, told: " + scene.news, .after = 200s};
  if (scene.depth > 0) return {.text = "found"};
  if (scene.step == 0)
    return {.calls = {call_of("task", fmt::format(R"({{"agent":"explore","prompt":"look"{}}})", first))}};
  if (scene.step == 1)
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"hold","run_in_background":true})")},
            .after = 1s};
  if (scene.step > 2) return {.text = "over"};
  return {
      .calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on","timeout":300{}}})",
                                            scene.value_of(first.empty() ? "Session: " : "id: "), where))},
      .after = 1s};
}

bool holds_the_place(const Event& event) {
  const auto* call = std::get_if<CallStarted>(&event.fact);
  return call && call->tool == "Glob";
}

class ResumedInLine : public testing::TestWithParam<const char*> {
 protected:
  ResumedInLine() {
    world.options.limits.live_children = 1;
    world.options.inbox_every = 80ms;
  }
  // What the report of its second run says.
  std::string said_by_resumed() const { return world.child("explore").result; }

  DialogueWorld world{[where = GetParam()](const Scene& scene) { return resumed_in_line(scene, where); }};
};

TEST_P(ResumedInLine, StandsInTheRegistryAndItsTimeBeginsWhenItDoes) {
  std::vector<Session> live;
  world.on_event = [&live](Runtime& runtime, const Event& event) {
    if (holds_the_place(event)) live = *runtime.store().sessions({.unfinished_only = true});
  };
  ASSERT_TRUE(world.run());
  const auto found = std::ranges::find(live, "explore", &Session::label);
  ASSERT_NE(found, live.end());
  EXPECT_EQ(found->state, SessionState::waiting);
  ASSERT_TRUE(found->wait);
  EXPECT_EQ(found->wait->owner, kPlace);
  EXPECT_EQ(found->run, 2);
  const Session resumed = world.child("explore");
  EXPECT_EQ(resumed.state, SessionState::completed);
  EXPECT_EQ(*resumed.deadline - *resumed.ended_at, 100s) << "200 of its 300 were used";
  world.expect_sound("");
}

TEST_P(ResumedInLine, IsReachedByANudge) {
  world.on_event = [this](Runtime& runtime, const Event& event) {
    if (holds_the_place(event)) runtime.nudge(world.child("explore").id, "be brief");
  };
  ASSERT_TRUE(world.run());
  EXPECT_THAT(said_by_resumed(), HasSubstr("be brief"));
}

TEST_P(ResumedInLine, IsReachedByALetterOfAnotherProcess) {
  for (const LetterKind kind : {LetterKind::nudge, LetterKind::cancel}) {
    world.on_event = [this, kind](Runtime&, const Event& event) {
      if (!holds_the_place(event)) return;
      SimLoop loop{1};
      MemoryStore other(loop, world.world.memory);
      const Session child = world.child("explore");
      EXPECT_FALSE(is_terminal(child.state)) << "else none is left";
      ASSERT_TRUE(other.post({.tree = child.tree, .session = child.id, .kind = kind, .text = "be brief"}));
    };
    world.world = SimWorld();
    world.world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    ASSERT_TRUE(world.run());
    EXPECT_TRUE(world.world.memory->inbox.empty());
    if (kind == LetterKind::nudge) EXPECT_THAT(said_by_resumed(), HasSubstr("be brief"));
    if (kind == LetterKind::cancel) EXPECT_EQ(world.child("explore").reason, Reason::cancelled_by_user);
  }
}

TEST_P(ResumedInLine, GoesOnAfterARestartWithTheTimeItWasGiven) {
  world.on_event = [](Runtime& runtime, const Event& event) {
    if (holds_the_place(event)) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  world.on_event = {};
  world.away = 8h;
  ASSERT_TRUE(world.resume(2));
  const Session resumed = world.child("explore");
  EXPECT_EQ(resumed.run, 2);
  EXPECT_EQ(resumed.state, SessionState::completed);
  EXPECT_EQ(*resumed.deadline - *resumed.ended_at, 100s);
  EXPECT_THAT(said_by_resumed(), HasSubstr("went on"));
  EXPECT_EQ(used_by(world.world.memory->journal).delegations, 3);
  world.expect_sound("");
}

INSTANTIATE_TEST_SUITE_P(Awaited, ResumedInLine, testing::Values("", kBeside));

TEST(WaitingInLine, AResumedChildIsReachedByAMessageOfItsParent) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0 || scene.step != 3) return resumed_in_line(scene, kBeside);
    return {.calls = {call_of("task_message", fmt::format(R"({{"id":"{}","text":"be brief"}})",
                                                          scene.value_of("Session: ")))}};
  });
  world.options.limits.live_children = 1;
  ASSERT_TRUE(world.run());
  EXPECT_THAT(world.results_of("task_message"), testing::ElementsAre(HasSubstr("Sent.")));
  EXPECT_THAT(world.child("explore").result, HasSubstr("be brief"));
}

// The second run beside its parent and in line, and every other time the first beside it too, whatever record
// the process dies at.
TEST(WaitingInLineSimulation, EachRunsReportIsDeliveredOnceThroughACrashAtEveryRecord) {
  for (std::uint64_t seed = 1; seed <= std::max<std::uint64_t>(simulation_seeds(20) / 2, 4); ++seed) {
    for (int record = 1;; ++record) {
      const bool committed = seed % 2 == 0;
      const char* first = seed / 2 % 2 == 0 ? "" : kBeside;
      const std::string where = fmt::format("seed {}, record {}", seed, record);
      DialogueWorld world([first](const Scene& scene) { return resumed_in_line(scene, kBeside, first); });
      world.options.limits.live_children = 1;
      world.options.seed = seed;
      world.options.crash = {record, committed};
      const auto report = world.run_through_crash();
      if (!report) break;
      ASSERT_TRUE(*report) << where << ": " << report->error().message;
      if (world.sessions().empty()) continue;
      std::vector<std::string> delivered;
      for (const auto& each : world.facts<Delivered>()) delivered.push_back(each.item);
      const SessionId child = world.child("explore").id;
      std::vector expected{report_item(world.child("general").id, 1), report_item(child, 2)};
      if (first == kBeside) expected.push_back(report_item(child, 1));  // else a call has handed it out
      ASSERT_THAT(delivered, testing::UnorderedElementsAreArray(expected)) << where;
      ASSERT_EQ(world.terminal_records("explore"), 2) << where;
      ASSERT_EQ(used_by(world.world.memory->journal).delegations, 3) << where;
      world.expect_sound(where);
    }
  }
}

TEST(WaitingInLine, AResumedChildThatIsCancelledThereDoesNotReportItsFormerSuccess) {
  DialogueWorld world([](const Scene& scene) { return resumed_in_line(scene, ""); });
  world.options.limits.live_children = 1;
  world.on_event = [&world](Runtime& runtime, const Event& event) {
    if (holds_the_place(event)) runtime.cancel(world.child("explore").id, StopReason::user);
  };
  ASSERT_TRUE(world.run());
  const Session resumed = world.child("explore");
  EXPECT_EQ(resumed.state, SessionState::cancelled);
  EXPECT_EQ(resumed.reason, Reason::cancelled_by_user);
  EXPECT_EQ(resumed.run, 2) << "it can be resumed once more";
  EXPECT_EQ(world.terminal_records("explore"), 2) << "one for each run";
  EXPECT_THAT(world.world.transcript("explore"), HasSubstr(R"("outcome":"cancelled")"));
  const auto told = world.results_of("task");
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(std::ranges::count_if(told, [](const auto& each) { return each.contains("Status: cancelled"); }),
            1);
  EXPECT_EQ(used_by(world.world.memory->journal).delegations, 2) << "what never ran was no delegation";
  world.expect_sound("");
}

// How many records a run of six children takes with so many places, without those of what only rode along,
// and how many of the children other processes saw waiting while the first one worked.
struct SixInLine {
  int records = 0;
  int seen = 0;
};
SixInLine six_in_line(int places, std::uint64_t seed) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  Life::Options options{.seed = seed};
  options.limits.live_children = places;
  options.model = [](Loop& loop) { return std::make_unique<ActingModel>(loop, all_at_once(6, "")); };
  Life life(world, std::move(options));
  SixInLine six;
  life.loop().timers().call_at(life.loop().clock().now() + 10s, [&] {
    six.seen = static_cast<int>(std::ranges::count_if(world.sessions(), [](const Session& session) {
      return session.state == SessionState::waiting && session.wait->owner == kPlace;
    }));
  });
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  EXPECT_TRUE(life.start(std::move(root)));
  six.records = life.records() - life.late_records();
  return six;
}

TEST(WaitingInLineSimulation, ChildrenAreOnRecordForOtherProcessesToSee) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed)
    EXPECT_EQ(six_in_line(1, seed).seen, 5) << "seed " << seed;
}

TEST(WaitingInLine, ASpawnIsOneRecordAndOneMoreWhereItWaits) {
  EXPECT_EQ(six_in_line(1, 1).records, six_in_line(8, 1).records + 5);
}

TEST(WaitingInLine, AChildKeepsItsPlaceInTheBatchOverARestart) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = 200s};
    if (scene.step > 0) return {.text = "over"};
    return {
        .calls = {call_of(
            "Delegate",
            R"({"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p"},{"label":"c","prompt":"p"}],"concurrency":4})")}};
  });
  world.options.limits.live_children = 1;
  world.on_event = [](Runtime& runtime, const Event& event) {
    const auto* created = std::get_if<SessionCreated>(&event.fact);
    if (created && created->session->label == "c") runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  world.on_event = {};
  ASSERT_EQ(world.facts<RunStarted>().size(), 2u) << "of the root and of the one that had a place";
  ASSERT_TRUE(world.resume(2));
  for (const auto& event : world.world.memory->journal) {
    const auto* started = std::get_if<RunStarted>(&event.fact);
    const std::string& label = world.world.memory->sessions.at(event.run.session).label;
    if (!started || label == "root") continue;
    EXPECT_EQ(started->total, 3) << label;
    EXPECT_EQ(started->index, label[0] - 'a') << label;
  }
  for (const Session& child : children_of(world)) EXPECT_EQ(child.state, SessionState::completed);
}

// Four children, of one batch or of a call each, for one place.
std::vector<Call> four_in_a_batch(int concurrency) {
  return {call_of(
      "Delegate",
      fmt::format(
          R"({{"tasks":[{{"label":"a","prompt":"1"}},{{"label":"b","prompt":"2"}},{{"label":"c","prompt":"3"}},{{"label":"d","prompt":"4"}}],"concurrency":{}}})",
          concurrency))};
}
std::vector<Call> four_calls(std::string_view where) {
  std::vector<Call> calls;
  for (int i = 1; i <= 4; ++i)
    calls.push_back(call_of("task", fmt::format(R"({{"agent":"explore","prompt":"{}"{}}})", i, where)));
  return calls;
}

// The prompts of the children, in the order in which their runs began.
std::vector<std::string> begun(const DialogueWorld& world) {
  std::vector<std::string> prompts;
  for (const Event& event : world.world.memory->journal) {
    if (!std::holds_alternative<RunStarted>(event.fact)) continue;
    const Session& session = world.world.memory->sessions.at(event.run.session);
    if (session.parent) prompts.push_back(session.prompt);
  }
  return prompts;
}

TEST(WaitingInLineSimulation, PlacesGoByTheOrderOfTheTasksInEveryOrder) {
  const std::vector<std::vector<Call>> ways{four_in_a_batch(1), four_in_a_batch(2), four_in_a_batch(4),
                                            four_calls(""), four_calls(kBeside)};
  for (const auto& calls : ways) {
    for (const bool is_of_the_tree : {true, false}) {
      for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
        DialogueWorld world([&calls](const Scene& scene) -> Act {
          if (scene.depth > 0) return {.text = "found", .after = 1s};
          if (scene.step > 0) return {.text = "over"};
          return {.calls = calls};
        });
        world.rules = Rules({{Decision::allow, "Delegate", ""}, {Decision::allow, "task", ""}});
        world.options.seed = seed;
        if (is_of_the_tree)
          world.options.limits.live_sessions = 1;
        else
          world.options.limits.live_children = 1;
        ASSERT_TRUE(world.run());
        ASSERT_THAT(begun(world), testing::ElementsAre("1", "2", "3", "4"))
            << calls.front().name << " " << calls.front().arguments << ", seed " << seed << ", --max-"
            << (is_of_the_tree ? "live" : "children");
        world.expect_sound(fmt::format("seed {}", seed));
      }
    }
  }
}

TEST(WaitingInLineSimulation, TheLastDelegationIsTheFirstCallsInEveryOrder) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found"};
      if (scene.step > 0) return {.text = "over"};
      return {.calls = four_calls("")};
    });
    world.options.seed = seed;
    world.options.limits.delegations = 1;
    ASSERT_TRUE(world.run());
    ASSERT_THAT(begun(world), testing::ElementsAre("1")) << "seed " << seed;
  }
}

TEST(WaitingInLine, ARootThatWaitsForAChildBesideItIsShownAsWaiting) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = 1h};
    if (scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"explore","prompt":"p","run_in_background":true})")}};
    return {.text = "so far", .after = 1s};
  });
  std::optional<SessionState> while_it_runs;
  world.on_event = [&](Runtime& runtime, const Event& event) {
    const auto* reply = std::get_if<ReplyReceived>(&event.fact);
    const auto* changed = std::get_if<StateChanged>(&event.fact);
    if (changed && changed->state == SessionState::waiting && !while_it_runs)
      while_it_runs = (*runtime.store().session(event.run.session))->state;
    if (reply && reply->reply.message.text == "found")
      EXPECT_EQ(while_it_runs, SessionState::waiting)
          << "it was on record before the child had anything to say";
  };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(while_it_runs, SessionState::waiting);
}

}  // namespace
}  // namespace deputy
