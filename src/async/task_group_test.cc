#include "async/task_group.h"

#include <boost/asio/this_coro.hpp>
#include <stdexcept>
#include <vector>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "gtest/gtest.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::seconds;

Task<> count_after(Loop& loop, Duration wait, int* count, StopToken stop) {
  if (co_await sleep_for(loop, wait, stop) == Slept::through) ++*count;
}

Task<> fail_after(Loop& loop, Duration wait, std::string why) {
  co_await sleep_for(loop, wait, {});
  throw std::runtime_error(why);
}

Task<> join_all(TaskGroup& group) { co_await group.join(); }

TEST(TaskGroup, ATaskStartsSoonNotAtOnce) {
  SimLoop loop(1);
  TaskGroup group(loop);
  int count = 0;
  group.spawn(count_after(loop, {}, &count, {}));
  EXPECT_EQ(count, 0);
  EXPECT_EQ(group.size(), 1u);
  run(loop, join_all(group));
  EXPECT_EQ(count, 1);
  EXPECT_EQ(group.size(), 0u);
}

TEST(TaskGroup, JoinWaitsForTheSlowest) {
  SimLoop loop(1);
  TaskGroup group(loop);
  int count = 0;
  for (int i = 1; i <= 5; ++i) group.spawn(count_after(loop, seconds(i), &count, group.token()));
  run(loop, join_all(group));
  EXPECT_EQ(count, 5);
  EXPECT_EQ(loop.clock().now().time_since_epoch(), seconds(5));
}

Task<> ask_whether_stops_throw(bool* throws) {
  *throws = co_await boost::asio::this_coro::throw_if_cancelled();
}

TEST(TaskGroup, NoStopIsAnException) {
  SimLoop loop(1);
  TaskGroup group(loop);
  bool throws = true;
  group.spawn(ask_whether_stops_throw(&throws));
  run(loop, join_all(group));
  EXPECT_FALSE(throws);
}

TEST(TaskGroup, JoinOfAnEmptyGroupReturns) {
  SimLoop loop(1);
  TaskGroup group(loop);
  run(loop, join_all(group));
}

Task<> stop_all(TaskGroup& group, StopReason reason) { co_await group.stop(reason); }

TEST(TaskGroup, StopEndsTheTasksThatWatchItsToken) {
  SimLoop loop(1);
  TaskGroup group(loop);
  int count = 0;
  for (int i = 0; i < 3; ++i) group.spawn(count_after(loop, seconds(60), &count, group.token()));
  run(loop, stop_all(group, StopReason::user));
  EXPECT_EQ(count, 0);
  EXPECT_EQ(group.token().reason(), StopReason::user);
  EXPECT_EQ(loop.clock().now().time_since_epoch(), seconds(0));
}

TEST(TaskGroup, StopsWithTheTokenAboveIt) {
  SimLoop loop(1);
  const StopSource above;
  TaskGroup group(loop, above.token());
  int count = 0;
  group.spawn(count_after(loop, seconds(60), &count, group.token()));
  above.request(StopReason::shutdown);
  run(loop, join_all(group));
  EXPECT_EQ(count, 0);
  EXPECT_EQ(group.token().reason(), StopReason::shutdown);
}

TEST(TaskGroup, JoinThrowsTheFirstExceptionOnAfterAllHaveEnded) {
  SimLoop loop(1);
  TaskGroup group(loop);
  int count = 0;
  group.spawn(fail_after(loop, seconds(2), "second"));
  group.spawn(fail_after(loop, seconds(1), "first"));
  group.spawn(count_after(loop, seconds(9), &count, {}));
  try {
    run(loop, join_all(group));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_EQ(count, 1);
  run(loop, join_all(group));  // thrown on once
}

// Ends, and in the same breath starts another task in the same group.
Task<> hand_over(Loop& loop, TaskGroup& group, int generations, int* count) {
  co_await sleep_for(loop, seconds(1), {});
  ++*count;
  if (generations > 1) group.spawn(hand_over(loop, group, generations - 1, count));
}

TEST(TaskGroup, JoinWaitsForTasksThatTasksHaveSpawned) {
  SimLoop loop(1);
  TaskGroup group(loop);
  int count = 0;
  group.spawn(hand_over(loop, group, 4, &count));
  run(loop, join_all(group));
  EXPECT_EQ(count, 4);
}

Task<> join_and_spawn(Loop& loop, TaskGroup& group, int* count) {
  co_await group.join();
  group.spawn(count_after(loop, seconds(5), count, {}));
}

Task<> join_and_look(TaskGroup& group, std::size_t* left) {
  co_await group.join();
  *left = group.size();
}

// Two wait for the same group; the one that wakes first starts one more task before the other has woken.
TEST(TaskGroup, JoinDoesNotReturnWhileATaskThatCameLateStillRuns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimLoop loop(seed);
    TaskGroup group(loop);
    TaskGroup joiners(loop);
    int count = 0;
    std::size_t left = 99;
    group.spawn(count_after(loop, seconds(1), &count, {}));
    joiners.spawn(join_and_spawn(loop, group, &count));
    joiners.spawn(join_and_look(group, &left));
    run(loop, join_all(joiners));
    EXPECT_EQ(left, 0u) << "seed " << seed;
    run(loop, join_all(group));
    EXPECT_EQ(count, 2) << "seed " << seed;
  }
}

TEST(TaskGroupDeathTest, AGroupThatDiesWithTasksInItIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        SimLoop loop(1);
        int count = 0;
        TaskGroup group(loop);
        group.spawn(count_after(loop, seconds(1), &count, {}));
      },
      "terminate called");
}

}  // namespace
}  // namespace deputy
