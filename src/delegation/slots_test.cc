#include "delegation/slots.h"

#include <gtest/gtest.h>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "support/run.h"

namespace deputy {
namespace {

struct Watch {
  int running = 0;
  int most = 0;
  int finished = 0;
};

Task<> work(Loop& loop, Slots& slots, SessionId parent, StopToken stop, Watch& watch) {
  auto place = co_await slots.take(std::move(parent), stop);
  if (!place) co_return;
  watch.most = std::max(watch.most, ++watch.running);
  co_await sleep_for(loop, std::chrono::seconds(1), stop);
  --watch.running;
  ++watch.finished;
}

TEST(SlotsSimulation, NeverMoreThanTheLimitAndEveryoneGetsATurn) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimLoop loop(seed);
    Slots slots({.live_children = 3, .live_sessions = 5});
    Watch all;
    TaskGroup group(loop);
    for (int i = 0; i < 40; ++i) {
      group.spawn(work(loop, slots, SessionId(i % 2 ? "a" : "b"), group.token(), all));
    }
    loop.run_until_idle();
    EXPECT_EQ(all.finished, 40) << "seed " << seed;
    EXPECT_LE(all.most, 5) << "seed " << seed;
    EXPECT_EQ(slots.running(), 0);
  }
}

TEST(Slots, OneParentHasNoMoreThanItsShare) {
  SimLoop loop(1);
  Slots slots({.live_children = 2, .live_sessions = 10});
  Watch watch;
  TaskGroup group(loop);
  for (int i = 0; i < 6; ++i) group.spawn(work(loop, slots, SessionId("a"), group.token(), watch));
  loop.run_until_idle();
  EXPECT_EQ(watch.most, 2);
}

TEST(Slots, WhereNoChildMayRunNotEvenTheFirstHasAPlace) {
  const SessionId parent("a");
  EXPECT_FALSE(Slots({.live_children = 0}).has_room_for(parent));
  EXPECT_TRUE(Slots({.live_children = 1}).has_room_for(parent));
  EXPECT_TRUE(Slots({.live_children = 0}).has_room_for(SessionId{})) << "the root is nobody's child";
}

TEST(Slots, WhoIsStoppedInTheLineLosesNobodysPlace) {
  SimLoop loop(1);
  Slots slots({.live_children = 1, .live_sessions = 1});
  Watch watch;
  TaskGroup group(loop);
  TaskGroup hasty(loop);
  group.spawn(work(loop, slots, SessionId("a"), group.token(), watch));
  loop.run_until([&] { return slots.running() == 1; });
  hasty.spawn(work(loop, slots, SessionId("a"), hasty.token(), watch));
  group.spawn(work(loop, slots, SessionId("a"), group.token(), watch));
  hasty.request_stop(StopReason::user);
  loop.run_until_idle();
  EXPECT_EQ(watch.finished, 2);
  EXPECT_EQ(slots.running(), 0);
}

}  // namespace
}  // namespace deputy
