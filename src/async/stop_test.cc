#include "async/stop.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "async/sim_loop.h"
#include "gtest/gtest.h"

namespace deputy {
namespace {

using std::chrono::seconds;

TEST(StopToken, AnEmptyTokenNeverStops) {
  const StopToken token;
  bool called = false;
  const auto callback = token.on_stop([&] { called = true; });
  EXPECT_FALSE(token.stopped());
  EXPECT_EQ(token.reason(), StopReason::none);
  EXPECT_EQ(token.deadline(), std::nullopt);
  EXPECT_FALSE(called);
}

TEST(StopToken, TheFirstReasonStays) {
  const StopSource source;
  source.request(StopReason::user);
  source.request(StopReason::shutdown);
  EXPECT_TRUE(source.token().stopped());
  EXPECT_EQ(source.token().reason(), StopReason::user);
}

TEST(StopToken, CallbacksRunOnceAndLastComeFirst) {
  const StopSource source;
  std::vector<int> order;
  const auto first = source.token().on_stop([&] { order.push_back(1); });
  const auto second = source.token().on_stop([&] { order.push_back(2); });
  source.request(StopReason::user);
  source.request(StopReason::user);
  EXPECT_EQ(order, (std::vector{2, 1}));
}

TEST(StopToken, ACallbackRegisteredAfterTheStopRunsAtOnce) {
  const StopSource source;
  source.request(StopReason::stalled);
  int calls = 0;
  const auto callback = source.token().on_stop([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(StopToken, ADestroyedCallbackDoesNotRun) {
  const StopSource source;
  int calls = 0;
  {
    const auto callback = source.token().on_stop([&] { ++calls; });
  }
  auto moved_from = source.token().on_stop([&] { calls += 10; });
  moved_from = source.token().on_stop([&] { calls += 100; });
  source.request(StopReason::user);
  EXPECT_EQ(calls, 100);
}

TEST(StopToken, ACallbackMayUnregisterAnotherWhileTheStopRuns) {
  const StopSource source;
  int calls = 0;
  std::optional<StopCallback> elder = source.token().on_stop([&] { ++calls; });
  const auto younger = source.token().on_stop([&] { elder.reset(); });
  source.request(StopReason::user);
  EXPECT_EQ(calls, 0);
}

TEST(StopToken, ACallbackMayDestroyTheSourceThatIsStopping) {
  auto source = std::make_unique<StopSource>();
  bool elder_ran = false;
  auto elder = source->token().on_stop([&] { elder_ran = true; });
  auto younger = source->token().on_stop([&] { source.reset(); });
  source->request(StopReason::user);
  EXPECT_TRUE(elder_ran);
}

TEST(StopSource, StopsWithItsParentsAndForTheirReason) {
  const StopSource root;
  const StopSource middle(root.token());
  const StopSource leaf(middle.token());
  root.request(StopReason::shutdown);
  EXPECT_EQ(leaf.token().reason(), StopReason::shutdown);
  EXPECT_EQ(middle.token().reason(), StopReason::shutdown);
}

TEST(StopSource, DoesNotStopItsParent) {
  const StopSource root;
  const StopSource leaf(root.token());
  leaf.request(StopReason::user);
  EXPECT_FALSE(root.token().stopped());
}

TEST(StopSource, MadeFromAStoppedTokenIsStopped) {
  const StopSource root;
  root.request(StopReason::parent);
  const StopSource leaf(root.token());
  EXPECT_EQ(leaf.token().reason(), StopReason::parent);
}

TEST(StopSource, AChildThatIsGoneIsNotReached) {
  const StopSource root;
  int calls = 0;
  {
    const StopSource leaf(root.token());
    const auto callback = leaf.token().on_stop([&] { ++calls; });
  }
  root.request(StopReason::user);
  EXPECT_EQ(calls, 0);
}

TEST(StopSource, TheNearestDeadlineOfTheChainCounts) {
  SimLoop loop(1);
  const auto now = loop.clock().now();
  StopSource root;
  StopSource leaf(root.token());
  EXPECT_EQ(leaf.token().deadline(), std::nullopt);
  root.set_deadline(loop.timers(), now + seconds(5));
  leaf.set_deadline(loop.timers(), now + seconds(9));
  EXPECT_EQ(leaf.token().deadline(), now + seconds(5));
  EXPECT_EQ(root.token().deadline(), now + seconds(5));
  leaf.set_deadline(loop.timers(), now + seconds(2));
  EXPECT_EQ(leaf.token().deadline(), now + seconds(2));
}

TEST(StopSource, StopsAtItsDeadline) {
  SimLoop loop(1);
  StopSource source;
  const auto when = loop.clock().now() + seconds(3);
  TimePoint stopped_at;
  const auto callback = source.token().on_stop([&] { stopped_at = loop.clock().now(); });
  source.set_deadline(loop.timers(), when);
  loop.run_until_idle();
  EXPECT_EQ(source.token().reason(), StopReason::deadline);
  EXPECT_EQ(stopped_at, when);
}

TEST(StopSource, AMovedDeadlineFiresOnlyAtItsNewMoment) {
  SimLoop loop(1);
  StopSource source;
  const auto start = loop.clock().now();
  source.set_deadline(loop.timers(), start + seconds(3));
  source.set_deadline(loop.timers(), start + seconds(8));
  loop.run_until_idle();
  EXPECT_EQ(loop.clock().now(), start + seconds(8));
  EXPECT_TRUE(source.token().stopped());
}

TEST(StopSource, ARemovedDeadlineDoesNotFire) {
  SimLoop loop(1);
  StopSource source;
  source.set_deadline(loop.timers(), loop.clock().now() + seconds(3));
  source.set_deadline(loop.timers(), std::nullopt);
  loop.run_until_idle();
  EXPECT_FALSE(source.token().stopped());
}

TEST(StopSource, KeepsItsDeadlineWhenItIsMoved) {
  SimLoop loop(1);
  std::optional<StopSource> first(std::in_place);
  first->set_deadline(loop.timers(), loop.clock().now() + seconds(3));
  const StopSource second = *std::move(first);
  first.reset();
  loop.run_until_idle();
  EXPECT_EQ(second.token().reason(), StopReason::deadline);
}

TEST(StopSource, ADeadlineDoesNotOutliveItsSource) {
  SimLoop loop(1);
  StopToken token;
  {
    StopSource source;
    source.set_deadline(loop.timers(), loop.clock().now() + seconds(3));
    token = source.token();
  }
  EXPECT_EQ(loop.run_until_idle(), 0u);
  EXPECT_FALSE(token.stopped());
}

}  // namespace
}  // namespace deputy
