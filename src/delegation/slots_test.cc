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
  const Slots::Ticket ticket = slots.take_ticket(std::move(parent));
  auto place = co_await ticket.wait(stop);
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
  EXPECT_FALSE(Slots({.live_children = 0}).take_ticket(parent).has_place());
  EXPECT_TRUE(Slots({.live_children = 1}).take_ticket(parent).has_place());
  EXPECT_TRUE(Slots({.live_children = 0}).take_ticket(SessionId{}).has_place())
      << "the root is nobody's child";
}

TEST(Slots, PlacesGoByTheOrderOfTheTicketsWhoeverWaitsFirst) {
  Slots slots({.live_children = 1, .live_sessions = 1});
  std::optional<Slots::Ticket> first = slots.take_ticket(SessionId("a"));
  const Slots::Ticket second = slots.take_ticket(SessionId("a"));
  std::optional<Slots::Ticket> third = slots.take_ticket(SessionId("a"));
  const Slots::Ticket fourth = slots.take_ticket(SessionId("a"));
  EXPECT_TRUE(first->has_place());
  EXPECT_FALSE(second.has_place());
  third.reset();
  first.reset();
  EXPECT_TRUE(second.has_place()) << "though nobody has waited for it yet";
  EXPECT_FALSE(fourth.has_place());
  EXPECT_EQ(slots.running(), 1);
}

TEST(Slots, AFreePlaceIsNotKeptForWhoHasLeftTheLine) {
  Slots slots({.live_children = 1, .live_sessions = 1});
  std::optional<Slots::Ticket> first = slots.take_ticket(SessionId("a"));
  std::optional<Slots::Ticket> second = slots.take_ticket(SessionId("a"));
  second.reset();
  first.reset();
  EXPECT_EQ(slots.running(), 0);
  EXPECT_TRUE(slots.take_ticket(SessionId("a")).has_place());
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
