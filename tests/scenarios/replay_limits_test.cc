// Bundles that say what no program of ours would, and what a replay may cost: it comes to an end with words.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "app/replay.h"
#include "replay_world.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

Act a_child_that_takes_a_note(const Scene& scene) {
  if (scene.depth == 0 && scene.step == 0)
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"look"})")}, .after = 2s};
  if (scene.depth == 0 || scene.step == 1) return {.text = "over", .after = 2s};
  return {.calls = {call_of("Note", R"({"content":"seen"})")}, .after = 2s};
}

// That came to its end, and was asked one thing more.
Bundle a_bundle() {
  ReplayWorld world(a_child_that_takes_a_note);
  EXPECT_TRUE(world.run());
  world.away = 1min;
  EXPECT_TRUE(world.say("and then?"));
  return {{{"has_search", true}}, world.world.memory->journal};
}

TEST(AReplay, IsMadeInAsManyStepsAsItMayTake) {
  const Bundle bundle = a_bundle();
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  ASSERT_THAT(replayed->differences, IsEmpty());
  ASSERT_GT(replayed->steps, 0u);
  const auto again = replay(bundle, replayed->steps);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());
  EXPECT_EQ(again->steps, replayed->steps);
}

TEST(AReplay, EndsWithWordsWhereverItsStepsAreSpent) {
  const Bundle bundle = a_bundle();
  const auto whole = replay(bundle);
  ASSERT_TRUE(whole) << whole.error().message;
  for (std::size_t steps = 0; steps < whole->steps; ++steps) {
    const auto replayed = replay(bundle, steps);
    ASSERT_FALSE(replayed) << steps;
    ASSERT_EQ(replayed.error().code, ErrorCode::exhausted) << steps;
    ASSERT_THAT(replayed.error().message, HasSubstr(fmt::format("more than {} steps", steps)));
    ASSERT_FALSE(replayed.error().advice.empty());
  }
}

TEST(AReplay, TellsHowFarItCameWhereItsStepsAreSpent) {
  Bundle bundle = a_bundle();
  const auto ended = std::ranges::find_if(
      bundle.events, [](const Event& event) { return std::holds_alternative<RunEnded>(event.fact); });
  ASSERT_NE(ended, bundle.events.end());
  std::get<RunEnded>(ended->fact).report->body = "another";
  const auto whole = replay(bundle);
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_FALSE(whole->differences.empty());
  const auto replayed = replay(bundle, whole->steps - 1);
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("it goes another way from here: session root/1.0.0.0,"));
}

// Of many programs each ends at once: what was about to call it does not outlive it.
TEST(AReplay, OfManyProgramsThatEndedAtOnceGivesTheSameEvents) {
  constexpr int kPrograms = 200;
  ReplayWorld world(a_child_that_takes_a_note);
  world.options.crash = {.at_record = 2};
  EXPECT_FALSE(world.run());
  Bundle bundle{{{"has_search", true}}, world.world.memory->journal};
  for (int i = 0; i < kPrograms; ++i) {
    Event taken_up = bundle.events.front();
    taken_up.seq = bundle.events.back().seq + 1;
    taken_up.at = bundle.events.back().at;
    taken_up.fact = TakenUp{};
    bundle.events.push_back(std::move(taken_up));
  }
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
  EXPECT_GT(replayed->events, static_cast<std::size_t>(kPrograms));
}

// Each of the programs in another century.
TEST(AReplay, OfAClockThatGoesToAndFroComesToAnEnd) {
  ReplayWorld world(a_child_that_takes_a_note);
  EXPECT_TRUE(world.run());
  for (int i = 1; i < 7; ++i) {
    world.away = 1min * i;
    EXPECT_TRUE(world.say("and then?"));
  }
  Bundle bundle{{{"has_search", true}}, world.world.memory->journal};
  for (Event& event : bundle.events)
    if (event.run.number > 1) event.at = event.run.number % 2 == 0 ? WallTime::min() : WallTime::max();
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
}

}  // namespace
}  // namespace deputy
