#include "model/cost.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

constexpr Price kPrice{.input = 3, .output = 15, .cache_read = 0.3, .cache_write = 3.75};

TEST(Cost, IsInMillionthsOfADollar) {
  EXPECT_EQ(cost_of({.input = 1000, .output = 200}, kPrice), 3000 + 3000);
  EXPECT_EQ(cost_of({}, kPrice), 0);
  EXPECT_EQ(cost_of({.input = 1'000'000, .output = 1'000'000}, kPrice), 18'000'000);
}

TEST(Cost, PricesCachedTokensAsSuch) {
  // 1000 in all: 600 read from the cache, 300 written to it, 100 neither.
  EXPECT_EQ(cost_of({.input = 1000, .cache_read = 600, .cache_write = 300}, kPrice), 180 + 1125 + 300);
}

TEST(Cost, PricesACacheLikeInputWhereNothingElseIsSaid) {
  EXPECT_EQ(cost_of({.input = 1000, .cache_read = 600, .cache_write = 300}, Price{.input = 2, .output = 8}),
            2000);
}

TEST(Cost, RoundsToTheNearest) {
  EXPECT_EQ(cost_of({.input = 3}, Price{.input = 0.15}), 0);   // 0.45
  EXPECT_EQ(cost_of({.input = 10}, Price{.input = 0.15}), 2);  // 1.5
}

TEST(Cost, IsNeverNegativeWhereAProviderCountsCachedTokensApart) {
  EXPECT_EQ(cost_of({.input = 10, .cache_read = 100}, kPrice), 30);
}

}  // namespace
}  // namespace deputy
