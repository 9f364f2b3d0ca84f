// Children that wait for a place to run: they stand in the registry, their time has not begun, and a stop
// ends them as it ends the others.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "delegation/budget.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

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
  }
  EXPECT_EQ(used_by(world.world.memory->journal).delegations, 1);
}

INSTANTIATE_TEST_SUITE_P(Awaited, InLine, testing::Values("", kBeside));

TEST(WaitingInLine, ASpawnIsOneRecordWhetherOrNotItWaits) {
  const auto records = [](int places) {
    SimWorld world;
    world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    world.write_file("a.txt", "one\n");
    Life::Options options;
    options.limits.live_children = places;
    options.model = [](Loop& loop) { return std::make_unique<ActingModel>(loop, all_at_once(6, "")); };
    Life life(world, std::move(options));
    RootBrief root = life.brief("go");
    root.model = ModelName("acting/test");
    EXPECT_TRUE(life.start(std::move(root)));
    return life.records();
  };
  EXPECT_EQ(records(1), records(8));
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
