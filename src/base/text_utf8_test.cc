#include <gtest/gtest.h>

#include "base/text.h"

namespace deputy {
namespace {

constexpr const char* kInvalid[] = {"\x80",         "\xc3",
                                    "\xc0\xaf",     "\xe2\x82",
                                    "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                    "\xf8\x88",     "\xf0\x80\x80\xaf",
                                    "\xff"};

TEST(Utf8, AcceptsAllLengthsAndRefusesTricks) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("aé€🙂"));
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
  for (const char* text : kInvalid) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_FALSE(is_utf8(std::string("aé") + text + "b"));
  }
}

TEST(Utf8, AByteThatDoesNotBelongIsSeenWhereverItStands) {
  for (std::size_t length = 1; length <= 24; ++length) {
    EXPECT_TRUE(is_utf8(std::string(length, 'a')));
    for (std::size_t at = 0; at < length; ++at) {
      std::string text(length, 'a');
      text[at] = '\x80';
      EXPECT_FALSE(is_utf8(text)) << at << " of " << length;
      text.replace(at, 1, "é");
      EXPECT_TRUE(is_utf8(text)) << at << " of " << length;
    }
  }
}

TEST(Utf8, MendsEachByteThatDoesNotBelong) {
  EXPECT_EQ(to_utf8("aé€🙂"), "aé€🙂");
  EXPECT_EQ(to_utf8("a\xff\xfe"), "a\uFFFD\uFFFD");
  EXPECT_EQ(to_utf8("\xe2\x82z"), "\uFFFD\uFFFDz");
  for (const char* text : kInvalid) EXPECT_TRUE(is_utf8(to_utf8(text)));
}

TEST(Utf8, PrefixEndsOnACharacterBoundary) {
  constexpr std::string_view kText = "aé€🙂";  // 1 + 2 + 3 + 4 bytes
  constexpr std::size_t kExpected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t max = 0; max < std::size(kExpected); ++max) {
    EXPECT_EQ(utf8_prefix(kText, max).size(), kExpected[max]) << max;
  }
}

TEST(Utf8, SuffixStartsOnACharacterBoundary) {
  constexpr std::string_view kText = "🙂€éa";
  constexpr std::size_t kExpected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t max = 0; max < std::size(kExpected); ++max) {
    EXPECT_EQ(utf8_suffix(kText, max).size(), kExpected[max]) << max;
  }
}

TEST(Utf8, CutsBytesThatAreNotTextWithoutLosingMoreThanACharacter) {
  const std::string bytes(100, '\x80');
  EXPECT_EQ(utf8_prefix(bytes, 50).size(), 50U);
  EXPECT_GE(utf8_suffix(bytes, 50).size(), 47U);
}

TEST(Utf8, LengthCountsCodePoints) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length("aé€🙂"), 4U);
  EXPECT_EQ(utf8_length("a\xff\xfe"), 3U);
}

TEST(Shorten, CountsTheEllipsis) {
  EXPECT_EQ(shorten("äöü", 3), "äöü");
  EXPECT_EQ(shorten("äöüß", 3), "äö…");
  EXPECT_EQ(shorten("abc", 1), "…");
  EXPECT_EQ(shorten("abc", 0), "");
  EXPECT_EQ(shorten("", 0), "");
}

TEST(OnOneLine, JoinsWithSingleSpaces) {
  EXPECT_EQ(on_one_line("  a\r\n\t b\u00a0\u2028c \n"), "a b c");
  EXPECT_EQ(on_one_line(" \n "), "");
}

TEST(MadeVisible, ShowsControlCharacters) {
  EXPECT_EQ(made_visible("\x1b[31mred\a"), "␛[31mred␇");
  EXPECT_EQ(made_visible(std::string_view("\0\x7f\r", 3)), "␀␡␍");
  EXPECT_EQ(made_visible("\u0085\u009b"), "\\u{85}\\u{9b}");
}

TEST(MadeVisible, ShowsWhatTurnsOrHidesText) {
  EXPECT_EQ(made_visible("a\u202eb\u2066c"), "a\\u{202e}b\\u{2066}c");
  EXPECT_EQ(made_visible("a\u200bb\ufeff"), "a\\u{200b}b\\u{feff}");
  EXPECT_EQ(made_visible("\u2028\u2029"), "\\u{2028}\\u{2029}");
  EXPECT_EQ(made_visible("\U000e0041\ue000\u3164"), "\\u{e0041}\\u{e000}\\u{3164}");
}

TEST(MadeVisible, KeepsOrdinaryTextLineBreaksAndTabs) {
  constexpr std::string_view kText = "Zwölf\tBoxkämpfer\n日本語 🙂 e\u0301\n";
  EXPECT_EQ(made_visible(kText), kText);
}

TEST(MadeVisible, AlwaysGivesUtf8AndChangesNothingTheSecondTime) {
  const std::string once = made_visible("\xff\x1b\u202e");
  EXPECT_EQ(once, "\uFFFD␛\\u{202e}");
  EXPECT_EQ(made_visible(once), once);
}

}  // namespace
}  // namespace deputy
