#include "tui/markdown.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace deputy {
namespace {

std::string shown(std::string_view text, std::size_t columns = 40) {
  std::string all;
  for (const auto& line : markdown_lines(text, columns)) all += plain_text(line) + "\n";
  return all;
}

TEST(Markdown, LaysOutBlocks) {
  EXPECT_EQ(
      shown("# Title\ntext *here*\nmore\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\n> said\n\n---\n"),
      "Title\n\ntext here more\n\n• a\n• b\n  • c\n\n1. x\n2. y\n\n│ said\n\n" + [] {
        std::string rule;
        for (int at = 0; at < 40; ++at) rule += "─";
        return rule + "\n";
      }());
}

TEST(Markdown, WrapsUnderItsOwnIndent) {
  EXPECT_EQ(shown("- one two three four five six seven eight\n", 20),
            "• one two three four\n  five six seven\n  eight\n");
  EXPECT_EQ(shown("> one two three four five", 16), "│ one two three\n│ four five\n");
}

TEST(Markdown, KeepsCodeAndColoursDiffs) {
  EXPECT_EQ(shown("```cc\nint  x;\n\n  y\n```"), "  int  x;\n  \n    y\n");
  const auto lines = markdown_lines("```diff\n-old\n+new\n same\n```", 40);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0][1].tone, Tone::removed);
  EXPECT_EQ(lines[1][1].tone, Tone::added);
  EXPECT_EQ(lines[2][1].tone, Tone::plain);
}

TEST(Markdown, FitsTablesToTheScreen) {
  EXPECT_EQ(shown("|a|long name|\n|---|---|\n|1|2|\n"), "a │ long name\n─────────────\n1 │ 2\n");
  for (const auto& line :
       markdown_lines("|" + std::string(50, 'x') + "|" + std::string(50, 'y') + "|\n|---|---|\n|1|2|", 30))
    EXPECT_LE(width_of(line), 30u);
}

TEST(Markdown, WrapsTheCellsOfATableThatIsTooWide) {
  EXPECT_EQ(shown("|file|what|\n|---|---|\n|src/a.py|runs eval here|\n|b|ok|\n", 20),
            "file     │ what\n"
            "────────────────────\n"
            "src/a.py │ runs eval\n"
            "         │ here\n"
            "b        │ ok\n");
}

TEST(Markdown, SaysTheHeadingOfEachCellWhereColumnsWouldBeTooNarrow) {
  constexpr std::string_view kTable = "|file|what|\n|---|---|\n|src/till|runs eval|\n|src/cart||\n";
  EXPECT_EQ(shown(kTable, 19),
            "file     │ what\n───────────────────\nsrc/till │ runs\n         │ eval\nsrc/cart │ \n");
  EXPECT_EQ(shown(kTable, 18), "file: src/till\nwhat: runs eval\n\nfile: src/cart\nwhat: \n");
  EXPECT_EQ(shown("|one heading|another one|\n|---|---|\n", 18), "one heading\nanother one\n");
}

TEST(Markdown, RepeatsNoLongHeadingInEachRow) {
  constexpr std::size_t kLong = 20'000;
  std::string text = "|" + std::string(kLong, 'h') + "|b|c|d|\n|---|---|---|---|\n";
  for (int row = 0; row < 1000; ++row) text += "|x|123456789|123456789|123456789|\n";
  std::ptrdiff_t repeated = 0;
  for (const auto& line : markdown_lines(text, 30)) repeated += std::ranges::count(plain_text(line), 'h');
  EXPECT_GE(repeated, static_cast<std::ptrdiff_t>(kLong)) << "whole once";
  EXPECT_LT(repeated, static_cast<std::ptrdiff_t>(kLong) + 1000 * 30);
}

TEST(Markdown, LosesNothingOfATable) {
  const auto squeezed = [](std::string text) {
    std::erase_if(text, [](char c) { return c < 'a' || c > 'z'; });
    return text;
  };
  for (std::size_t columns = 10; columns <= 80; ++columns) {
    for (const std::string_view quote : {"", "> "}) {
      const std::string text = std::string(quote) + "|a|b|\n" + std::string(quote) + "|---|---|\n" +
                               std::string(quote) + "|" + std::string(30, 'x') + "|one two three|";
      const std::string seen = squeezed(shown(text, columns));
      EXPECT_EQ(std::ranges::count(seen, 'x'), 30) << columns;
      EXPECT_EQ(std::ranges::count(seen, 'e'), 3) << columns;
      for (const auto& line : markdown_lines(text, columns)) EXPECT_LE(width_of(line), columns);
    }
  }
}

TEST(Markdown, SaysWhereALinkInATableLeads) {
  EXPECT_THAT(shown("|a|\n|---|\n|[good](https://bad.example)|\n"),
              testing::HasSubstr("good (https://bad.example)"));
}

TEST(Markdown, SaysWhereALinkLeads) {
  EXPECT_EQ(shown("[good](https://bad.example)"), "good (https://bad.example)\n");
  EXPECT_EQ(shown("<https://a.example>"), "https://a.example\n");
}

TEST(Markdown, StandsSpansThatTheParserNeverOpened) {
  EXPECT_EQ(shown("> q\n [l](http:/~/x)J\n---~\n&a"), "│ q l (http:/~/x)J --- &a\n");
}

TEST(Markdown, LetsNoEscapeThrough) {
  for (const std::string_view text :
       {"a\x1b]0;title\x07z", "`\x1b[2J`", "```\n\x1b[31m\n```", "|\x1b[1m|\n|---|\n|\x9b|", "[x](\x1b[5m)",
        "# \x1b"
        "c"}) {
    for (const auto& line : markdown_lines(text, 40)) {
      for (const char c : to_terminal(line, {.colour = false}))
        EXPECT_GE(static_cast<unsigned char>(c), 0x20) << text;
    }
  }
}

TEST(Markdown, KnowsWhichBlocksAreWhole) {
  EXPECT_EQ(settled_prefix("one\n"), 0u);
  EXPECT_EQ(settled_prefix("one\n\n"), 0u);
  EXPECT_EQ(settled_prefix("one\n\nt"), 5u);
  EXPECT_EQ(settled_prefix("- a\n\n  still a"), 0u);
  EXPECT_EQ(settled_prefix("```\na\n\nb\n"), 0u) << "a fence is open";
  EXPECT_EQ(settled_prefix("```\na\n\nb\n```\n\nc"), 14u);
}

}  // namespace
}  // namespace deputy
