#include "app/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;

TEST(Interrupts, ASecondOneSoonAfterLeaves) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(0)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(2000)}), SignalAction::leave);
}

TEST(Interrupts, ALaterOneCancelsAgain) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGTERM, TimePoint{milliseconds(0)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(2001)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGTERM, TimePoint{milliseconds(2100)}), SignalAction::leave);
}

TEST(Interrupts, AHangUpLeavesTheWorkToBeResumed) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGHUP, TimePoint{}), SignalAction::suspend);
}

TEST(Signals, ArriveAsValuesAndDoNotEndTheProcess) {
  SystemLoop loop;
  auto signals = Signals::take();
  ASSERT_TRUE(signals);
  ::raise(SIGINT);
  EXPECT_EQ(run(loop, signals->next(loop, {})), SIGINT);
}

TEST(Signals, StopWaitingWhenAsked) {
  SystemLoop loop;
  auto signals = Signals::take();
  ASSERT_TRUE(signals);
  StopSource stop;
  stop.request(StopReason::user);
  EXPECT_EQ(run(loop, signals->next(loop, stop.token())), std::nullopt);
}

TEST(SignalsDeathTest, EndTheProcessAgainOnceTheyWereGivenBack) {
  const auto signals = Signals::take();
  ASSERT_TRUE(signals);
  EXPECT_EXIT(
      {
        signals->give_back();
        ::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace deputy
