#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

namespace deputy {
namespace {

TEST(SystemRandom, DoesNotRepeatItself) {
  SystemRandom random;
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 100; ++i) drawn.insert(random.next());
  EXPECT_EQ(drawn.size(), 100U);
}

TEST(SeededRandom, RepeatsItselfFromTheSameSeed) {
  SeededRandom first(7);
  SeededRandom second(7);
  SeededRandom other(8);
  const std::uint64_t drawn = first.next();
  EXPECT_EQ(drawn, second.next());
  EXPECT_NE(drawn, other.next());
  EXPECT_NE(drawn, first.next());
}

TEST(SeededRandom, KeepsItsSequenceBetweenVersions) {
  SeededRandom random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4U);
}

TEST(Below, StaysBelowItsBoundAndReachesAllOfIt) {
  SeededRandom random(1);
  std::array<int, 3> counts{};
  for (int i = 0; i < 3000; ++i) ++counts.at(random.below(3));
  for (const int count : counts) EXPECT_GT(count, 800);
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_LT(random.below(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Below, DrawsAgainWhereTheRangeIsUneven) {
  struct Scripted : Random {
    std::uint64_t drawn = 0;
    std::uint64_t next() override { return drawn++; }
  };
  Scripted random;
  // 2^64 mod (2^63 + 1) is 2^63 - 1, so all smaller draws are given back.
  random.drawn = (1ULL << 63) - 2;
  EXPECT_EQ(random.below((1ULL << 63) + 1), (1ULL << 63) - 1);
  EXPECT_EQ(random.drawn, 1ULL << 63);
}

TEST(RandomText, UsesItsAlphabetOnly) {
  SeededRandom random(2);
  const std::string text = random_text(random, 200, "ab");
  EXPECT_EQ(text.size(), 200U);
  EXPECT_EQ(text.find_first_not_of("ab"), std::string::npos);
  EXPECT_NE(text.find('a'), std::string::npos);
  EXPECT_NE(text.find('b'), std::string::npos);
  EXPECT_EQ(random_text(random, 0, "ab"), "");
}

TEST(RandomUuid, IsOfVersionFour) {
  SeededRandom random(3);
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = random_uuid(random);
    ASSERT_EQ(uuid.size(), 36U);
    EXPECT_EQ(uuid[8], '-');
    EXPECT_EQ(uuid[13], '-');
    EXPECT_EQ(uuid[14], '4');
    EXPECT_EQ(uuid[18], '-');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
    EXPECT_EQ(uuid[23], '-');
  }
}

}  // namespace
}  // namespace deputy
