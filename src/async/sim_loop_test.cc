#include "async/sim_loop.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/pool.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "gtest/gtest.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

Task<> log_steps(Loop& loop, char name, std::string* log, StopToken stop) {
  for (int i = 0; i < 4; ++i) {
    *log += name;
    co_await sleep_for(loop, milliseconds(10), stop);
  }
}

Task<> race(Loop& loop, std::string* log) {
  TaskGroup group(loop);
  for (const char name : {'a', 'b', 'c', 'd', 'e'}) group.spawn(log_steps(loop, name, log, group.token()));
  co_await group.join();
}

std::string order_of(std::optional<std::uint64_t> seed) {
  SimLoop loop(seed);
  std::string log;
  run(loop, race(loop, &log));
  return log;
}

TEST(SimLoop, TheSameSeedGivesTheSameOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(order_of(seed), order_of(seed)) << "seed " << seed;
}

TEST(SimLoop, DifferentSeedsGiveDifferentOrders) {
  std::vector<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) orders.push_back(order_of(seed));
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  EXPECT_GE(orders.size(), 15u);
}

TEST(SimLoop, WithoutASeedAllIsDoneInTheOrderInWhichItBecameReady) {
  EXPECT_EQ(order_of(std::nullopt), "abcdeabcdeabcdeabcde");
}

TEST(SimLoop, TheClockJumpsOnlyWhenNothingIsReady) {
  SimLoop loop(1);
  std::vector<std::string> seen;
  loop.timers().call_at(TimePoint(hours(24)), [&] { seen.push_back("timer"); });
  for (int i = 0; i < 3; ++i) {
    loop.post([&] {
      EXPECT_EQ(loop.clock().now(), TimePoint());
      seen.push_back("work");
    });
  }
  EXPECT_EQ(loop.run_until_idle(), 4u);
  EXPECT_EQ(seen, (std::vector<std::string>{"work", "work", "work", "timer"}));
  EXPECT_EQ(loop.clock().now(), TimePoint(hours(24)));
}

TEST(SimLoop, TellsWhatCanBeDoneWhileTheClockStandsStill) {
  SimLoop loop(1);
  EXPECT_TRUE(loop.is_idle());
  loop.timers().call_at(TimePoint(hours(24)), [] {});
  loop.post([] {});
  EXPECT_TRUE(loop.has_ready());
  loop.run_until([&loop] { return !loop.has_ready(); });
  EXPECT_EQ(loop.clock().now(), TimePoint());
  EXPECT_FALSE(loop.is_idle()) << "there is a timer";
  loop.run_until_idle();
  EXPECT_TRUE(loop.is_idle());
}

TEST(SimLoop, TimersFireInTheOrderOfTheirMoments) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimLoop loop(seed);
    std::vector<int> fired;
    for (const int at : {5, 1, 4, 2, 3})
      loop.timers().call_at(TimePoint(seconds(at)), [&fired, at] { fired.push_back(at); });
    loop.run_until_idle();
    EXPECT_EQ(fired, (std::vector{1, 2, 3, 4, 5})) << "seed " << seed;
  }
}

TEST(SimLoop, ACancelledTimerNeverFires) {
  SimLoop loop(1);
  int fired = 0;
  const auto id = loop.timers().call_at(TimePoint(seconds(1)), [&] { ++fired; });
  loop.timers().cancel(id);
  loop.timers().cancel(id);
  EXPECT_EQ(loop.run_until_idle(), 0u);
  EXPECT_EQ(fired, 0);
}

// As on the system loop: whoever cancels need not fear that the callback comes after all, though it was due
// already.
TEST(SimLoop, ATimerCancelledByAnotherOfTheSameMomentNeverFires) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimLoop loop(seed);
    int fired = 0;
    TimerId first;
    TimerId second;
    first = loop.timers().call_at(TimePoint(seconds(1)), [&] { ++fired, loop.timers().cancel(second); });
    second = loop.timers().call_at(TimePoint(seconds(1)), [&] { ++fired, loop.timers().cancel(first); });
    loop.run_until_idle();
    EXPECT_EQ(fired, 1) << "seed " << seed;
  }
}

TEST(SimLoop, RunUntilLeavesTheRestForLater) {
  SimLoop loop(1);
  int count = 0;
  for (int i = 0; i < 5; ++i) loop.post([&] { ++count; });
  EXPECT_EQ(loop.run_until([&] { return count == 2; }), 2u);
  EXPECT_EQ(loop.run_until_idle(), 3u);
}

TEST(SimLoop, AJumpOfTheWallClockDisturbsNoWait) {
  SimLoop loop(1);
  const auto wall = loop.clock().wall();
  loop.manual_clock().jump_wall(-hours(5));
  EXPECT_EQ(run(loop, sleep_for(loop, seconds(3), {})), Slept::through);
  EXPECT_EQ(loop.clock().now(), TimePoint(seconds(3)));
  EXPECT_EQ(loop.clock().wall(), wall - hours(5) + seconds(3));
}

TEST(Sleep, LastsAsLongAsAsked) {
  SimLoop loop(1);
  EXPECT_EQ(run(loop, sleep_for(loop, seconds(90), {})), Slept::through);
  EXPECT_EQ(loop.clock().now(), TimePoint(seconds(90)));
  EXPECT_EQ(run(loop, sleep_until(loop, TimePoint(seconds(100)), {})), Slept::through);
  EXPECT_EQ(loop.clock().now(), TimePoint(seconds(100)));
}

TEST(Sleep, AMomentThatHasPassedIsNoWait) {
  SimLoop loop(1);
  loop.manual_clock().advance(seconds(50));
  EXPECT_EQ(run(loop, sleep_until(loop, TimePoint(seconds(10)), {})), Slept::through);
  EXPECT_EQ(run(loop, sleep_for(loop, -seconds(10), {})), Slept::through);
  EXPECT_EQ(loop.clock().now(), TimePoint(seconds(50)));
}

TEST(Sleep, AStopEndsItAndTakesItsTimerAway) {
  SimLoop loop(1);
  StopSource source;
  source.set_deadline(loop.timers(), TimePoint(seconds(4)));
  EXPECT_EQ(run(loop, sleep_for(loop, hours(1), source.token())), Slept::stopped);
  EXPECT_EQ(loop.clock().now(), TimePoint(seconds(4)));
  EXPECT_EQ(loop.run_until_idle(), 0u);
}

TEST(Sleep, DoesNotSleepWhenStoppedBefore) {
  SimLoop loop(1);
  const StopSource source;
  source.request(StopReason::user);
  EXPECT_EQ(run(loop, sleep_for(loop, hours(1), source.token())), Slept::stopped);
  EXPECT_EQ(loop.clock().now(), TimePoint());
}

TEST(Sleep, TheLongestDurationOnlyEndsByAStop) {
  SimLoop loop(1);
  loop.manual_clock().advance(seconds(1));
  StopSource source;
  source.set_deadline(loop.timers(), TimePoint(hours(1000)));
  EXPECT_EQ(run(loop, sleep_for(loop, Duration::max(), source.token())), Slept::stopped);
}

TEST(InlinePool, GivesTheValueBackOnTheSimulatedLoop) {
  SimLoop loop(1);
  InlinePool pool;
  EXPECT_EQ(*run(loop, on_pool(loop, pool, [] { return std::make_unique<int>(42); })), 42);
}

TEST(InlinePool, ThrowsInTheCallerWhatTheWorkThrew) {
  SimLoop loop(1);
  InlinePool pool;
  EXPECT_THROW(run(loop, on_pool(loop, pool, [] { throw std::runtime_error("no"); })), std::runtime_error);
}

}  // namespace
}  // namespace deputy
