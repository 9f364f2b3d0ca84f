#include "base/boxed.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace deputy {
namespace {

TEST(Boxed, IsCopiedAndComparedLikeItsValue) {
  const Boxed<std::string> one(std::string("one"));
  Boxed<std::string> other = one;
  EXPECT_EQ(one, other);
  *other += " more";
  EXPECT_EQ(*one, "one");
  EXPECT_FALSE(one == other);
  other = one;
  EXPECT_EQ(one, other);
  EXPECT_EQ(*Boxed<std::string>(), "");
}

TEST(Boxed, GivesItsValueAway) {
  Boxed<std::string> box(std::string(100, 'x'));
  const char* const place = box->data();
  const Boxed<std::string> moved = std::move(box);
  EXPECT_EQ(moved->data(), place);
  Boxed<std::string> last = moved;
  const std::string taken = *std::move(last);
  EXPECT_EQ(taken.size(), 100u);
  box = moved;  // one that was moved from can be assigned to
  EXPECT_EQ(box, moved);
}

}  // namespace
}  // namespace deputy
