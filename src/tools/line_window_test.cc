#include "tools/line_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::Not;

LineWindow over(std::string_view text, LineWindow::Limits limits, std::size_t piece = 3) {
  LineWindow window(limits);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) window.feed(text.substr(0, piece));
  window.finish();
  return window;
}

constexpr LineWindow::Limits kAll{.first = 1, .lines = 1000, .bytes = 1 << 20};

TEST(LineWindow, NumbersLinesWhateverPiecesTheyComeIn) {
  for (std::size_t piece = 1; piece < 12; ++piece) {
    const LineWindow window = over("one\n\nthree", kAll, piece);
    EXPECT_EQ(window.text(), "     1\tone\n     2\t\n     3\tthree\n");
    EXPECT_EQ(window.seen(), 3u);
    EXPECT_EQ(window.last(), 3u);
  }
}

TEST(LineWindow, AFinalLineBreakBeginsNoLine) {
  EXPECT_EQ(over("a\n", kAll).seen(), 1u);
  EXPECT_EQ(over("\n", kAll).seen(), 1u);
  EXPECT_EQ(over("", kAll).seen(), 0u);
}

TEST(LineWindow, TakesSomeLinesAndCountsTheRest) {
  const LineWindow window = over("a\nb\nc\nd\n", {.first = 2, .lines = 2, .bytes = 100});
  EXPECT_EQ(window.text(), "     2\tb\n     3\tc\n");
  EXPECT_EQ(window.last(), 3u);
  EXPECT_EQ(window.seen(), 4u);
  EXPECT_TRUE(window.is_full());
}

TEST(LineWindow, StopsBeforeTheLineThatWouldNotFit) {
  EXPECT_EQ(over("aa\nbb\n", {.first = 1, .lines = 9, .bytes = 20}).last(), 2u);  // each row has ten bytes
  EXPECT_EQ(over("aa\nbb\n", {.first = 1, .lines = 9, .bytes = 19}).last(), 1u);
}

TEST(LineWindow, ShortensALineJustPastTheLimit) {
  const std::string line(LineWindow::kMaxCharacters, 'a');
  EXPECT_THAT(over(line, kAll).text(), Not(HasSubstr("shortened")));
  const std::string longer = over(line + "a", kAll).text();
  EXPECT_THAT(longer, HasSubstr("… [line shortened: it has 2,001 bytes]"));
  EXPECT_LT(longer.size(), line.size() + 100);
}

TEST(LineWindow, AVeryLongLineIsNotKeptWholeNorTakenForBroken) {
  std::string line = "x";  // so that characters do not end where the kept part does
  for (int i = 0; i < 200'000; ++i) line += "é";
  const LineWindow window = over(line + "\nnext", kAll, 4096);
  EXPECT_FALSE(window.was_mended());
  EXPECT_THAT(window.text(), HasSubstr("it has 400,001 bytes"));
  EXPECT_THAT(window.text(), HasSubstr("     2\tnext\n"));
  EXPECT_LT(window.text().size(), 5000u);
}

TEST(LineWindow, MendsWhatIsNotUtf8) {
  const LineWindow window = over("a\xff\n", kAll);
  EXPECT_EQ(window.text(), "     1\ta\uFFFD\n");
  EXPECT_TRUE(window.was_mended());
  EXPECT_FALSE(over("é\n", kAll, 1).was_mended());
}

TEST(LineWindow, NoticesCarriageReturns) {
  const LineWindow window = over("a\r\nb\n", kAll);
  EXPECT_EQ(window.text(), "     1\ta\n     2\tb\n");
  EXPECT_TRUE(window.has_crlf());
}

}  // namespace
}  // namespace deputy
