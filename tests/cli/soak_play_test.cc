#include "soak_play.h"

#include <gtest/gtest.h>

#include <map>

namespace deputy {
namespace {

TEST(AServerThatGoesWrong, DoesSoInEachWayWithinATreeAndHardlyEverTurnsDown) {
  constexpr int kRequests = kChildren * (kSteps + 1);
  std::mt19937_64 chance{1};
  std::map<Wrong, int> times;
  for (int i = 0; i < kRequests; ++i) ++times[wrong_by(chance())];
  for (const Wrong wrong : {Wrong::reset, Wrong::cut_off, Wrong::failed, Wrong::dripped})
    EXPECT_GE(times[wrong], kRequests / 48);
  EXPECT_GE(times[Wrong::turned_down], 1);
  EXPECT_LE(times[Wrong::turned_down], 8) << "each costs all children ten seconds";
  EXPECT_GE(times[Wrong::nothing], kRequests / 2);
}

}  // namespace
}  // namespace deputy
