#include "async/channel.h"

#include <memory>
#include <vector>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "gtest/gtest.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::seconds;

Task<> pop_all(Channel<int> channel, std::vector<int>* popped) {
  while (auto value = co_await channel.pop({})) popped->push_back(*value);
}

TEST(Channel, ValuesComeOutInOrderAndTheCloseAfterThem) {
  SimLoop loop(1);
  const Channel<int> channel;
  for (int i = 0; i < 4; ++i) channel.push(i);
  channel.close();
  channel.push(99);  // too late
  EXPECT_EQ(channel.size(), 4u);
  std::vector<int> popped;
  run(loop, pop_all(channel, &popped));
  EXPECT_EQ(popped, (std::vector{0, 1, 2, 3}));
}

Task<> push_slowly(Loop& loop, Channel<int> channel, int count) {
  for (int i = 0; i < count; ++i) {
    co_await sleep_for(loop, seconds(1), {});
    channel.push(i);
  }
  channel.close();
}

Task<> push_and_pop(Loop& loop, int readers, std::vector<int>* popped) {
  const Channel<int> channel;
  TaskGroup group(loop);
  for (int i = 0; i < readers; ++i) group.spawn(pop_all(channel, popped));
  group.spawn(push_slowly(loop, channel, 5));
  co_await group.join();
}

TEST(Channel, PopWaitsForAPush) {
  SimLoop loop(1);
  std::vector<int> popped;
  run(loop, push_and_pop(loop, 1, &popped));
  EXPECT_EQ(popped, (std::vector{0, 1, 2, 3, 4}));
}

TEST(Channel, EachValueGoesToOneReaderAndTheCloseToAll) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimLoop loop(seed);
    std::vector<int> popped;
    run(loop, push_and_pop(loop, 3, &popped));
    EXPECT_EQ(popped, (std::vector{0, 1, 2, 3, 4})) << "seed " << seed;
  }
}

Task<std::optional<int>> pop_one(Channel<int> channel, StopToken stop) {
  co_return co_await channel.pop(stop);
}

TEST(Channel, AStopEndsTheWait) {
  SimLoop loop(1);
  const Channel<int> channel;
  StopSource source;
  source.set_deadline(loop.timers(), loop.clock().now() + seconds(2));
  EXPECT_EQ(run(loop, pop_one(channel, source.token())), std::nullopt);
  EXPECT_EQ(loop.clock().now().time_since_epoch(), seconds(2));
}

TEST(Channel, AValueThatIsThereIsPoppedAlsoByAStoppedReader) {
  SimLoop loop(1);
  const Channel<int> channel;
  channel.push(7);
  const StopSource source;
  source.request(StopReason::user);
  EXPECT_EQ(run(loop, pop_one(channel, source.token())), 7);
  EXPECT_EQ(run(loop, pop_one(channel, source.token())), std::nullopt);
}

Task<> pop_into(Channel<int> channel, StopToken stop, std::optional<int>* popped) {
  *popped = co_await channel.pop(stop);
}

Task<> stop_one_of_two(Loop& loop, std::optional<int>* stopped, std::optional<int>* other) {
  const Channel<int> channel;
  const StopSource source;
  TaskGroup group(loop);
  group.spawn(pop_into(channel, source.token(), stopped));
  co_await sleep_for(loop, seconds(1), {});  // it stands first in the queue
  group.spawn(pop_into(channel, {}, other));
  co_await sleep_for(loop, seconds(1), {});
  source.request(StopReason::user);
  channel.push(5);
  channel.close();
  co_await group.join();
}

TEST(Channel, AValueIsNotLostOnAReaderThatWasStopped) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimLoop loop(seed);
    std::optional<int> stopped;
    std::optional<int> other;
    run(loop, stop_one_of_two(loop, &stopped, &other));
    EXPECT_EQ(stopped.value_or(0) + other.value_or(0), 5) << "seed " << seed;
  }
}

// A reader that looks again and again, with a short patience each time, must not leave something behind each
// time.
Task<int> look_often(Loop& loop, Channel<std::shared_ptr<int>> channel, int times) {
  for (int i = 0; i < times; ++i) {
    StopSource patience;
    patience.set_deadline(loop.timers(), loop.clock().now() + seconds(1));
    co_await channel.pop(patience.token());
  }
  co_return static_cast<int>(channel.waiting());
}

TEST(Channel, StoppedReadersLeaveNothingBehind) {
  SimLoop loop(1);
  EXPECT_EQ(run(loop, look_often(loop, {}, 50)), 0);
}

}  // namespace
}  // namespace deputy
