#include "app/frames.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;

class FramesTest : public testing::Test {
 protected:
  void ask_at(milliseconds when) {
    loop_.timers().call_at(begin_ + when, [this] { frames_.draw_soon(); });
  }
  // When it was drawn, in milliseconds.
  std::vector<std::int64_t> drawn() {
    loop_.run_until_idle();
    return drawn_;
  }

  SimLoop loop_{1};
  TimePoint begin_ = loop_.clock().now();
  std::vector<std::int64_t> drawn_;
  Frames frames_{
      loop_, [this] {
        drawn_.push_back(std::chrono::duration_cast<milliseconds>(loop_.clock().now() - begin_).count());
      }};
};

TEST_F(FramesTest, WhatChangesAtOnceIsDrawnAtOnceAndOnlyOnce) {
  for (int change = 0; change < 1'000; ++change) frames_.draw_soon();
  EXPECT_THAT(drawn(), testing::ElementsAre(0));
}

TEST_F(FramesTest, WhatChangesWithoutRestIsDrawnEverySixteenMilliseconds) {
  for (int at = 0; at <= 50; ++at) ask_at(milliseconds(at));
  EXPECT_THAT(drawn(), testing::ElementsAre(0, 16, 32, 48, 64));
}

TEST_F(FramesTest, WhatChangesAfterARestIsNotHeldBack) {
  for (const int at : {0, 16, 31, 300}) ask_at(milliseconds(at));
  EXPECT_THAT(drawn(), testing::ElementsAre(0, 16, 32, 300));
}

TEST_F(FramesTest, WhatSomebodyElseDrewCounts) {
  frames_.drawn();
  ask_at(milliseconds(1));
  EXPECT_THAT(drawn(), testing::ElementsAre(16));
}

// What the terminal does not take, up to the fifth time, here.
class StalledFramesTest : public FramesTest {
 protected:
  Frames stalled_{
      loop_, [this] {
        drawn_.push_back(std::chrono::duration_cast<milliseconds>(loop_.clock().now() - begin_).count());
        drawn_.size() % tries_ == 0 ? stalled_.drawn() : stalled_.try_again(taken_);
      }};
  std::size_t tries_ = 5;
  std::uint64_t taken_ = 0;
};

TEST_F(StalledFramesTest, WhatIsNotTakenIsTriedAgainEverLessOften) {
  stalled_.draw_soon();
  EXPECT_THAT(drawn(), testing::ElementsAre(0, 16, 48, 112, 240));
}

TEST_F(StalledFramesTest, AtLeastOnceASecondAndNotOftener) {
  tries_ = 10;
  stalled_.draw_soon();
  EXPECT_THAT(drawn(), testing::ElementsAre(0, 16, 48, 112, 240, 496, 1008, 2008, 3008, 4008));
}

TEST_F(StalledFramesTest, WhatTakesSomethingIsTriedSoon) {
  tries_ = 7;
  stalled_.draw_soon();
  loop_.timers().call_at(begin_ + milliseconds(200), [this] { taken_ = 8'000; });
  EXPECT_THAT(drawn(), testing::ElementsAre(0, 16, 48, 112, 240, 256, 288));
}

TEST_F(StalledFramesTest, OnceItIsTakenTheNextIsTriedAgainSoon) {
  tries_ = 3;
  stalled_.draw_soon();
  loop_.timers().call_at(begin_ + milliseconds(100), [this] { stalled_.draw_soon(); });
  EXPECT_THAT(drawn(), testing::ElementsAre(0, 16, 48, 100, 116, 148));
}

TEST_F(FramesTest, NothingIsDrawnAfterItWasCancelled) {
  frames_.draw_soon();
  frames_.try_again(0);
  frames_.cancel();
  EXPECT_THAT(drawn(), testing::IsEmpty());
}

}  // namespace
}  // namespace deputy
