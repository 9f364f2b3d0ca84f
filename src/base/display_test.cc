#include "base/display.h"

#include <gtest/gtest.h>

#include <vector>

namespace deputy {
namespace {

TEST(DisplayWidth, CountsColumnsByGrapheme) {
  EXPECT_EQ(display_width("plain"), 5u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // a mark stands on its letter
  EXPECT_EQ(display_width("日本"), 4u);     // wide
  EXPECT_EQ(display_width("🚀"), 2u);       // an emoji
  EXPECT_EQ(display_width("🇫🇷"), 2u);       // a flag: two letters, one sign
  EXPECT_EQ(display_width("👍🏽"), 2u);     // coloured
  EXPECT_EQ(display_width("한국"), 4u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(DisplayWidth, CutsBetweenGraphemesOnly) {
  EXPECT_EQ(display_prefix("日本語", 4), "日本");
  EXPECT_EQ(display_prefix("日本語", 5), "日本");
  EXPECT_EQ(display_prefix("e\u0301x", 1), "e\u0301");
  EXPECT_EQ(cut_to_width("日本語", 6), "日本語");
  EXPECT_EQ(cut_to_width("日本語", 5), "日本…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(DisplayWidth, WalksBackwardsAsForwards) {
  const std::string text = "a e\u0301日🇫🇷👍🏽 z\n🇫🇷🇩🇪";
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size(); at = grapheme_end(text, at)) ends.push_back(at);
  for (std::size_t at = text.size(); at > 0;) {
    at = grapheme_start(text, at);
    ASSERT_FALSE(ends.empty());
    EXPECT_EQ(at, ends.back());
    ends.pop_back();
  }
  EXPECT_TRUE(ends.empty());
}

TEST(ForScreen, LeavesNothingThatMovesTheCursorOrHides) {
  EXPECT_EQ(for_screen("a\x1b[31mb"), "a␛[31mb");
  EXPECT_EQ(for_screen("a\u202eb"), "a\\u{202e}b");
  EXPECT_EQ(for_screen("a\rb\r\nc\x7f"), "a␍b\nc␡");
  EXPECT_EQ(for_screen("\u009b31m"), "\\u{9b}31m");
  EXPECT_EQ(for_screen("\xff"), "\uFFFD");
}

TEST(ForScreen, ExpandsTabsAndMakesEmojiWidthsCertain) {
  EXPECT_EQ(for_screen("a\tb\n\tc"), "a   b\n    c");
  EXPECT_EQ(for_screen("⚠\uFE0F ok"), "⚠ ok");
  EXPECT_EQ(for_screen("👨\u200D👩"), "👨👩");
  EXPECT_EQ(for_screen("a\u200Db"), "a\\u{200d}b");  // no emoji: somebody hides something
}

}  // namespace
}  // namespace deputy
