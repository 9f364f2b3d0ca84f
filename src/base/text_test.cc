#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace deputy {
namespace {

using Names = std::vector<std::string>;

TEST(Bounded, LeavesTextThatFitsAsItIs) {
  const std::string text(100, 'x');
  const Bounded kept = bounded(text, 100);
  EXPECT_TRUE(kept.whole);
  EXPECT_EQ(kept.text, text);
  EXPECT_FALSE(bounded(text, 99).whole);
}

TEST(Bounded, SaysHowManyLinesAreMissingBetweenHeadAndTail) {
  std::string text;
  for (int i = 1000; i < 2000; ++i) text += "line " + std::to_string(i) + "\n";
  const Bounded cut = bounded(text, 1000);
  EXPECT_FALSE(cut.whole);
  EXPECT_LE(cut.text.size(), 1000U);
  EXPECT_GT(cut.text.size(), 900U);
  EXPECT_TRUE(cut.text.starts_with("line 1000\nline 1001\n"));
  EXPECT_TRUE(cut.text.ends_with("line 1998\nline 1999\n"));
  const std::string marker = "\n[… " + std::to_string(cut.lines_left_out) + " lines (" +
                             with_thousands(cut.bytes_left_out) + " bytes) left out …]\nline ";
  EXPECT_NE(cut.text.find(marker), std::string::npos) << cut.text;
  EXPECT_EQ(cut.lines_left_out * 10, cut.bytes_left_out);
  const std::size_t head = cut.text.find("[…");
  const std::size_t tail = cut.text.size() - cut.text.find("…]\n") - 5;
  EXPECT_NEAR(static_cast<double>(head) / static_cast<double>(head + tail), 0.6, 0.05);
}

TEST(Bounded, CutsInsideALineWhenThereIsNoOtherWay) {
  const Bounded cut = bounded(std::string(10'000, 'x'), 200);
  EXPECT_LE(cut.text.size(), 200U);
  EXPECT_GT(cut.text.size(), 180U);
  EXPECT_EQ(cut.lines_left_out, 0U);
  EXPECT_NE(cut.text.find("[… " + with_thousands(cut.bytes_left_out) + " bytes left out …]"),
            std::string::npos);
}

TEST(Bounded, NeverExceedsItsLimitNorBreaksACharacter) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "zwölf Boxkämpfer\n日本語🙂\n";
  for (std::size_t max = 0; max <= text.size() + 1; ++max) {
    const Bounded cut = bounded(text, max);
    ASSERT_LE(cut.text.size(), max);
    ASSERT_TRUE(is_utf8(cut.text)) << max;
    ASSERT_EQ(cut.whole, max >= text.size());
  }
}

TEST(LinesOf, LeavesLineBreaksAndTheEmptyRestOut) {
  EXPECT_EQ(lines_of(""), std::vector<std::string_view>{});
  EXPECT_EQ(lines_of("a\nb"), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(lines_of("a\r\n\nb\n"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(lines_of("\n"), std::vector<std::string_view>{""});
  EXPECT_EQ(lines_of("a\rb\r"), std::vector<std::string_view>{"a\rb\r"});
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string_view>{""});
  EXPECT_EQ(split(",", ','), (std::vector<std::string_view>{"", ""}));
}

TEST(Trimmed, TakesWhiteSpaceOffBothEnds) {
  EXPECT_EQ(trimmed(" \t\r\na b\v\f "), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Lowered, ChangesAsciiOnly) { EXPECT_EQ(lowered("ABC-Zz-ÄÖ"), "abc-zz-ÄÖ"); }

TEST(WithThousands, GroupsByThree) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(ShortCount, KeepsTwoOrThreeDigits) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(890), "890");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(1000), "1k");
  EXPECT_EQ(short_count(2100), "2.1k");
  EXPECT_EQ(short_count(9999), "9.9k");
  EXPECT_EQ(short_count(45'000), "45k");
  EXPECT_EQ(short_count(999'999), "999k");
  EXPECT_EQ(short_count(1'200'000), "1.2M");
  EXPECT_EQ(short_count(std::numeric_limits<std::uint64_t>::max()), "18E");
}

TEST(Nearest, PutsTheSmallestDistanceFirst) {
  const Names names{"Glob", "Read", "Grep", "Write", "Bash"};
  EXPECT_EQ(nearest("grap", names), Names{"Grep"});
  EXPECT_EQ(nearest("Raed", names), Names{"Read"});
  EXPECT_EQ(nearest("bash", names), Names{"Bash"});
  EXPECT_EQ(nearest("Delegate", names), Names{});
  EXPECT_EQ(nearest("", Names{"a", "bb", "ccc"}), (Names{"a", "bb"}));
}

TEST(Nearest, GoesAsFarAsAThirdOfTheWordAndAtLeastTwo) {
  EXPECT_EQ(nearest("abc", Names{"axy"}), Names{"axy"});
  EXPECT_EQ(nearest("abc", Names{"xyz"}), Names{});
  EXPECT_EQ(nearest("abcdefghi", Names{"abcdefxyz"}), Names{"abcdefxyz"});
  EXPECT_EQ(nearest("abcdefghi", Names{"abcdewxyz"}), Names{});
}

TEST(Nearest, GivesAtMostWhatWasAskedForInTheirOrder) {
  const Names names{"aab", "aac", "aad", "aae"};
  EXPECT_EQ(nearest("aaa", names), (Names{"aab", "aac", "aad"}));
  EXPECT_EQ(nearest("aaa", names, 1), Names{"aab"});
  EXPECT_EQ(nearest("aaa", names, 0), Names{});
}

TEST(SafeFileName, KeepsHarmlessCharactersOnly) {
  EXPECT_EQ(safe_file_name("Fix_bug-1.2"), "Fix_bug-1.2");
  EXPECT_EQ(safe_file_name("a b/c\\d"), "a-b-c-d");
  EXPECT_EQ(safe_file_name("über 日本"), "-ber---");
  EXPECT_EQ(safe_file_name(std::string_view("a\0\n\x1b", 4)), "a---");
}

TEST(SafeFileName, IsNeverEmptyNorHidden) {
  EXPECT_EQ(safe_file_name(""), "unnamed");
  EXPECT_EQ(safe_file_name(".."), "_.");
  EXPECT_EQ(safe_file_name(".git"), "_git");
  EXPECT_EQ(safe_file_name("\x80"), "-");
}

TEST(SafeFileName, HasAtMostSixtyFourBytes) {
  EXPECT_EQ(safe_file_name(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(safe_file_name(std::string(65, 'a')), std::string(64, 'a'));
}

TEST(Crc32, IsTheUsualOne) {
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
}

TEST(Sha256, MatchesThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace deputy
