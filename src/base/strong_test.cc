#include "base/strong.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace deputy {
namespace {

using Fruit = Strong<struct FruitTag>;
using Colour = Strong<struct ColourTag>;

static_assert(!std::is_convertible_v<Fruit, Colour>);
static_assert(!std::is_convertible_v<std::string, Fruit>);
static_assert(!std::is_constructible_v<Colour, Fruit>);

TEST(Strong, ComparesAndHashesByItsText) {
  const Fruit orange("orange");
  EXPECT_EQ(orange, Fruit("orange"));
  EXPECT_LT(Fruit("apple"), orange);
  EXPECT_TRUE(Fruit().empty());
  const std::unordered_set<Fruit> fruits{orange, Fruit("orange"), Fruit("apple")};
  EXPECT_EQ(fruits.size(), 2U);
}

}  // namespace
}  // namespace deputy
