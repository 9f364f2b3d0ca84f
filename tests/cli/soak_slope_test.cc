#include "soak_slope.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace deputy {
namespace {

std::vector<Look> line(double by_hour, int count, double minutes) {
  std::vector<Look> looks;
  for (int i = 0; i < count; ++i) {
    const double hours = minutes / 60 * i / count;
    looks.push_back({hours, 5 + by_hour * hours});
  }
  return looks;
}

// Of so many megabytes, to both sides.
std::vector<Look> with_noise(std::vector<Look> looks, double most, std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  for (Look& look : looks) look.value += most * (static_cast<double>(chance() % 2001) / 1000 - 1);
  return looks;
}

TEST(SlopeOfLooks, IsThatOfALine) {
  const Slope slope = slope_of(line(3, 20, 120));
  EXPECT_NEAR(slope.by_hour, 3, 1e-9);
  EXPECT_EQ(slope.spare, 18);
  EXPECT_TRUE(slope.is_above(2.9));
  EXPECT_FALSE(slope.is_above(3.1));
  EXPECT_TRUE(slope.is_below(3.1));
  EXPECT_FALSE(slope.is_below(2.9));
}

TEST(SlopeOfLooks, OfNothingAtAllIsNone) {
  const Slope slope = slope_of(line(0, 20, 120));
  EXPECT_FALSE(slope.is_above(0));
  EXPECT_TRUE(slope.is_below(1));
}

TEST(SlopeOfLooks, TakesThreeOfAKindToBeTold) {
  for (const int count : {0, 1, 2}) {
    const Slope slope = slope_of(line(1000, count, 60));
    EXPECT_FALSE(slope.is_above(1)) << count;
    EXPECT_FALSE(slope.is_below(1)) << count;
    EXPECT_THAT(to_text(slope, 1, " MB"), testing::HasSubstr("too few looks"));
  }
  EXPECT_TRUE(slope_of(line(1000, 3, 60)).is_above(1));
  const std::vector<Look> strangers{{0, 1, 0}, {1, 100, 1}, {2, 200, 2}, {3, 300, 3}};
  EXPECT_EQ(slope_of(strangers).spare, 0) << "none can be compared with another";
}

TEST(SlopeOfLooks, ComparesLikeWithLike) {
  std::vector<Look>
      looks;  // each life of a tree holds more than the one before, each tree as much as the last
  for (int tree = 0; tree < 2; ++tree) {
    for (int life = 0; life < 8; ++life) looks.push_back({tree * 0.02 + life * 0.002, life * 10.0, life});
  }
  EXPECT_NEAR(slope_of(looks).by_hour, 0, 1e-9);
  for (Look& look : looks) look.value += 50 * look.hours;
  EXPECT_NEAR(slope_of(looks).by_hour, 50, 1e-6);
  for (Look& look : looks) look.kind = 0;
  EXPECT_GT(slope_of(looks).by_hour, 100) << "this is what kinds are for";
}

TEST(SlopeOfLooks, IsAsSureAsItsLooksAreMany) {
  const std::map<int, double> students{{1, 318.31}, {2, 22.33},  {9, 4.297},  {10, 4.144},  {11, 4.025},
                                       {20, 3.552}, {40, 3.307}, {60, 3.232}, {120, 3.160}, {1000, 3.098}};
  for (const auto& [spare, standard_errors] : students) {
    const Slope slope{.error = 2, .spare = spare};
    EXPECT_NEAR(slope.margin(), 2 * standard_errors, 0.02) << spare;
  }
}

TEST(SlopeOfLooks, IsFlatUpToTheMostThereMayBe) {
  const auto slope = [](double by_hour) { return Slope{.by_hour = by_hour, .error = 0.2, .spare = 100}; };
  EXPECT_TRUE(slope(-5).is_flat(1));
  EXPECT_TRUE(slope(1).is_flat(1));
  EXPECT_FALSE(slope(1.01).is_flat(1));
  EXPECT_FALSE(slope(1.01).is_above(1))
      << "nobody is sure that it grows by so much, but it does not look flat";
  const Slope unknown;
  EXPECT_FALSE(unknown.is_flat(1)) << "nothing is known";
}

TEST(SlopeOfLooks, IsFlatUpToWhatNoiseBringsAboutWhereItIsLoud) {
  const auto slope = [](double by_hour) { return Slope{.by_hour = by_hour, .error = 1, .spare = 100}; };
  EXPECT_TRUE(slope(3.1).is_flat(1));
  EXPECT_FALSE(slope(3.2).is_flat(1));
}

// Of three looks as of sixty: what jumps about by a megabyte either way does not grow.
TEST(SlopeOfLooks, IsHardlyEverTakenForGrowthWhereItIsNoise) {
  for (const int count : {3, 4, 6, 10, 20, 60}) {
    int taken = 0;
    int not_flat = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
      const Slope slope = slope_of(with_noise(line(0, count, 10), 1, seed));
      taken += slope.is_above(1) ? 1 : 0;
      not_flat += slope.is_flat(1) ? 0 : 1;
    }
    EXPECT_LE(taken, 12) << count << " looks, of 2000 times";
    EXPECT_LE(not_flat, 12) << count << " looks, of 2000 times";
  }
}

TEST(SlopeOfLooks, TellsALeakFromNoneInAnHour) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Slope leak = slope_of(with_noise(line(2, 40, 60), 0.2, seed));
    EXPECT_TRUE(leak.is_above(1)) << seed;
    EXPECT_FALSE(leak.is_flat(1)) << seed;
    const Slope none = slope_of(with_noise(line(0, 40, 60), 0.2, seed));
    EXPECT_TRUE(none.is_below(1)) << seed;
  }
}

TEST(SlopeOfLooks, SaysWhereItIsTooShortToTell) {
  const Slope slope = slope_of(with_noise(line(1, 5, 5), 0.2, 1));
  EXPECT_FALSE(slope.is_above(1));
  EXPECT_FALSE(slope.is_below(1));
  EXPECT_THAT(to_text(slope, 1, " MB"), testing::HasSubstr("too short or too noisy to tell"));
  EXPECT_THAT(to_text(slope_of(line(0, 5, 5)), 1, " MB"), testing::StrEq("+0.00 MB/h (±0.00)"));
}

}  // namespace
}  // namespace deputy
