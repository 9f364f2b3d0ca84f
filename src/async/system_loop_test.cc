#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "async/loop.h"
#include "async/pool.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "gtest/gtest.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(SystemLoop, RunsWhatIsPostedInOrderAndNotAtOnce) {
  SystemLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.post([&loop] { loop.stop(); });
  EXPECT_TRUE(order.empty());
  loop.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST(SystemLoop, CanRunAgainAfterAStop) {
  SystemLoop loop;
  for (int i = 0; i < 3; ++i) {
    loop.post([&loop] { loop.stop(); });
    loop.run();
  }
}

TEST(SystemLoop, AStopThatComesBeforeTheRunIsNotLost) {
  SystemLoop loop;
  loop.stop();
  loop.run();
}

TEST(SystemLoop, TakesWorkFromOtherThreads) {
  SystemLoop loop;
  int count = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          loop.post([&] {
            if (++count == 400) loop.stop();
          });
        }
      });
    }
    loop.run();
  }
  EXPECT_EQ(count, 400);
}

TEST(SystemLoop, TimersFireInOrderAndNotEarly) {
  SystemLoop loop;
  const auto start = loop.clock().now();
  std::vector<int> fired;
  for (const int at : {6, 2, 4}) {
    loop.timers().call_at(start + milliseconds(at), [&, at] {
      EXPECT_GE(loop.clock().now(), start + milliseconds(at));
      fired.push_back(at);
      if (fired.size() == 3) loop.stop();
    });
  }
  loop.run();
  EXPECT_EQ(fired, (std::vector{2, 4, 6}));
}

TEST(SystemLoop, ACancelledTimerDoesNotHoldUpTheNext) {
  SystemLoop loop;
  const auto start = loop.clock().now();
  bool cancelled_fired = false;
  const auto id = loop.timers().call_at(start + milliseconds(1), [&] { cancelled_fired = true; });
  loop.timers().call_at(start + milliseconds(3), [&] { loop.stop(); });
  loop.timers().cancel(id);
  loop.run();
  EXPECT_FALSE(cancelled_fired);
}

// The system's own timer still wakes the loop for the one that was cancelled.
TEST(SystemLoop, ATimerThatIsSetAfterAnEarlierOneWasCancelledFiresOnceAndNotEarly) {
  SystemLoop loop;
  const auto start = loop.clock().now();
  int fired = 0;
  loop.timers().cancel(loop.timers().call_at(start + milliseconds(10), [&] { ++fired; }));
  loop.timers().call_at(start + milliseconds(30), [&] {
    EXPECT_GE(loop.clock().now(), start + milliseconds(30));
    ++fired;
  });
  loop.timers().call_at(start + milliseconds(35), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(fired, 1);
}

TEST(SystemLoop, ATimerMaySetAndCancelTimers) {
  SystemLoop loop;
  bool cancelled_fired = false;
  const auto start = loop.clock().now();
  const auto doomed = loop.timers().call_at(start + milliseconds(2), [&] { cancelled_fired = true; });
  loop.timers().call_at(start + milliseconds(1), [&] {
    loop.timers().cancel(doomed);
    loop.timers().call_at(start,
                          [&] { loop.timers().call_at(start + milliseconds(3), [&] { loop.stop(); }); });
  });
  loop.run();
  EXPECT_FALSE(cancelled_fired);
}

TEST(SystemLoop, SleepsAndStopsSleeping) {
  SystemLoop loop;
  EXPECT_EQ(run(loop, sleep_for(loop, milliseconds(2), {})), Slept::through);
  StopSource source;
  source.set_deadline(loop.timers(), loop.clock().now() + milliseconds(2));
  EXPECT_EQ(run(loop, sleep_for(loop, hours(1), source.token())), Slept::stopped);
}

TEST(ThreadPool, WorksOnAnotherThreadAndComesBackOnTheLoop) {
  SystemLoop loop;
  ThreadPool pool(2);
  const auto here = std::this_thread::get_id();
  EXPECT_NE(run(loop, on_pool(loop, pool, [] { return std::this_thread::get_id(); })), here);
}

Task<std::string> double_up(Loop& loop, Pool& pool, std::string text) {
  auto doubled = co_await on_pool(loop, pool, [text] { return std::make_unique<std::string>(text + text); });
  co_return *doubled;
}

TEST(ThreadPool, GivesBackWhatCanOnlyBeMoved) {
  SystemLoop loop;
  ThreadPool pool(2);
  EXPECT_EQ(run(loop, double_up(loop, pool, "ab")), "abab");
}

TEST(ThreadPool, ThrowsInTheCallerWhatTheWorkThrew) {
  SystemLoop loop;
  ThreadPool pool(1);
  EXPECT_THROW(run(loop, on_pool(loop, pool, [] { throw std::runtime_error("no"); })), std::runtime_error);
}

TEST(ThreadPool, FinishesWhatWasQueuedBeforeItDies) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(3);
    for (int i = 0; i < 100; ++i) pool.run([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

Task<> many_at_once(Loop& loop, Pool& pool, int* sum) {
  struct Each {
    static Task<> add(Loop& loop, Pool& pool, int i, int* sum) {
      *sum += co_await on_pool(loop, pool, [i] { return i; });
    }
  };
  TaskGroup group(loop);
  for (int i = 1; i <= 100; ++i) group.spawn(Each::add(loop, pool, i, sum));
  co_await group.join();
}

TEST(ThreadPool, ManyTasksMayUseItAtOnce) {
  SystemLoop loop;
  ThreadPool pool(4);
  int sum = 0;
  run(loop, many_at_once(loop, pool, &sum));
  EXPECT_EQ(sum, 5050);
}

}  // namespace
}  // namespace deputy
