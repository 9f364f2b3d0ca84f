#include "tui/live_region.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <random>
#include <utility>

#include "tui/screen.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class LiveRegionTest : public testing::Test {
 protected:
  void draw(const std::string& first, const std::string& second, TerminalSize size) {
    const Frame frame{{line_of(first), line_of(second)}, 1, 0};  // the cursor is in the second
    screen_.feed(region_.draw({}, frame, size));
  }
  static constexpr TerminalSize kSize{20, 10};
  Screen screen_{kSize};
  LiveRegion region_{{.colour = false}};
};

TEST_F(LiveRegionTest, StandsBelowWhatWasWrittenSinceItWasErased) {
  draw("one", "two", kSize);
  screen_.feed(region_.erase(kSize));
  screen_.feed("$ fg\r\n");
  region_.forget();
  draw("one", "two", kSize);
  EXPECT_THAT(screen_.rows(), ElementsAre("$ fg", "one", "two"));
}

TEST_F(LiveRegionTest, StandsBelowWhatWasWrittenOverItWithoutAWord) {
  draw("one", "two", kSize);
  screen_.feed("\r\n$ fg\r\n");
  region_.forget();
  draw("one", "three", kSize);
  EXPECT_THAT(screen_.rows(), ElementsAre("one", "two", "$ fg", "one", "three"));
  draw("one", "four", kSize);
  EXPECT_THAT(screen_.rows(), ElementsAre("one", "two", "$ fg", "one", "four")) << "in place again";
}

TEST_F(LiveRegionTest, ClearedItStandsAtTheTopAndWhatWasFinishedInTheScrollback) {
  const Frame frame{{line_of("one"), line_of("two")}, 1, 0};
  screen_.feed(region_.draw({line_of("said"), line_of("done")}, frame, kSize));
  screen_.feed(region_.clear(kSize));
  EXPECT_THAT(screen_.rows(), ElementsAre());
  EXPECT_THAT(screen_.scrollback, ElementsAre("said", "done")) << "no blank row, and none of the frame";
  draw("one", "three", kSize);
  EXPECT_THAT(screen_.rows(), ElementsAre("one", "three"));
  screen_.feed(region_.clear(kSize));
  EXPECT_THAT(screen_.scrollback, ElementsAre("said", "done")) << "there was nothing else";
}

TEST_F(LiveRegionTest, ClearedItStandsAloneWhateverOthersHaveWritten) {
  draw("one", "two", kSize);
  screen_.feed("\x1b[7Hfrom elsewhere");
  screen_.feed(region_.clear(kSize));
  draw("one", "two", kSize);
  EXPECT_THAT(screen_.rows(), ElementsAre("one", "two"));
}

// As where the window was made narrower meanwhile, which wraps what stands there.
TEST_F(LiveRegionTest, CountsNoRowsOfWhatItHasForgotten) {
  draw("one", "two", kSize);
  screen_.feed("\r\n$ fg\r\n");
  region_.forget();
  draw("one", "two", {2, 10});
  EXPECT_THAT(screen_.rows(), ElementsAre("one", "two", "$ fg", "one", "two"));
}

// tmux counts the columns that a row ever had, until the row is erased as a whole; by those it wraps.
TEST_F(LiveRegionTest, ErasesARowAsAWholeBeforeItIsWrittenOver) {
  draw("a long first line", "two", kSize);
  const std::string bytes = region_.draw({}, {{line_of("one"), line_of("two")}, 1, 0}, kSize);
  EXPECT_THAT(bytes, HasSubstr("\x1b[2Kone\r\n\x1b[2Ktwo"));
  screen_.feed(bytes);
  EXPECT_THAT(screen_.rows(), ElementsAre("one", "two"));
}

// tmux keeps in its scrollback what stood on a screen that is erased from its first column on.
TEST_F(LiveRegionTest, IsNeverErasedFromTheFirstColumnOn) {
  draw("one", "two", kSize);
  const Frame fewer{{line_of("three")}, 0, 0};
  for (const std::string& bytes :
       {region_.draw({}, fewer, kSize), region_.draw({line_of("said")}, fewer, kSize),
        region_.draw({}, fewer, {10, 10}), region_.erase({10, 10})}) {
    EXPECT_THAT(bytes, HasSubstr("\x1b[C\x1b[J"));
    EXPECT_THAT(bytes, Not(HasSubstr("\r\x1b[J")));
    EXPECT_THAT(bytes, Not(HasSubstr("A\x1b[J")));
    screen_.feed(bytes);
  }
  EXPECT_THAT(screen_.rows(), ElementsAre("said"));
}

// One row too many would cost a line of what was said.
TEST_F(LiveRegionTest, FindsItsTopFromACursorWhereANarrowerScreenHasWrappedItsLine) {
  const auto rows_up = [](std::size_t typed, std::size_t cursor) {
    LiveRegion region{{.colour = false}};
    const Frame frame{{line_of("above"), line_of(std::string(typed, 'x'))}, 1, cursor};
    region.draw({}, frame, kSize);
    const std::string bytes = region.erase({8, 10});
    return bytes.substr(0, bytes.find('A') + 1);
  };
  EXPECT_EQ(rows_up(15, 15), "\r\x1b[2A");
  EXPECT_EQ(rows_up(16, 16), "\r\x1b[2A") << "behind the last one of the second row";
  EXPECT_EQ(rows_up(17, 17), "\r\x1b[3A");
  EXPECT_EQ(rows_up(17, 16), "\r\x1b[3A") << "on the first one of the third row";
  EXPECT_EQ(rows_up(17, 7), "\r\x1b[1A");
  EXPECT_EQ(rows_up(17, 8), "\r\x1b[2A");
}

// The screen of another size is fed with what tmux makes of the one before.
class ResizedRegionTest : public testing::Test {
 protected:
  // The cursor is behind the last line.
  static Frame frame(const std::vector<std::string>& lines) {
    Frame frame;
    for (const auto& line : lines) frame.lines.push_back(line_of(line));
    frame.cursor_row = lines.size() - 1;
    frame.cursor_column = lines.back().size();
    return frame;
  }
  static std::vector<Line> finished(std::size_t count) { return std::vector<Line>(count, line_of("said")); }
  // The number of rows that it goes up.
  std::string way_up(TerminalSize size) {
    const std::string bytes = region_.erase(size);
    return bytes.substr(0, bytes.find('A') + 1);
  }
  LiveRegion region_{{.colour = false}};
};

TEST_F(ResizedRegionTest, RowsThatALowerWindowPushedOffAreErasedWhenAHigherOneBringsThemBack) {
  region_.draw(finished(1), frame({"one", "two", "three", ">"}), {20, 10});
  Screen low({20, 3});
  low.feed("said\r\none\r\ntwo\r\nthree\r\n>");
  low.feed(region_.draw({}, frame({"three", ">"}), {20, 3}));
  EXPECT_THAT(low.scrollback, ElementsAre("said", "one"));
  EXPECT_THAT(low.rows(), ElementsAre("", "three", ">")) << "its last row stays";
  Screen high({20, 10});
  high.feed("said\r\none\r\n\r\nthree\r\n>");
  high.feed(region_.draw({}, frame({"one", "two", "three", ">"}), {20, 10}));
  EXPECT_THAT(high.rows(), ElementsAre("said", "one", "two", "three", ">"));
}

TEST_F(ResizedRegionTest, NoFinishedLineIsErasedForRowsThatWerePushedOffAboveIt) {
  region_.draw(finished(1), frame({"one", "two", "three", ">"}), {20, 10});
  region_.draw({}, frame({"three", ">"}), {20, 3});
  region_.draw({line_of("done")}, frame({"three", ">"}), {20, 3});
  Screen high({20, 10});
  high.feed("said\r\none\r\ndone\r\nthree\r\n>");
  high.feed(region_.draw({}, frame({"one", ">"}), {20, 10}));
  EXPECT_THAT(high.rows(), ElementsAre("said", "one", "done", "one", ">"));
}

TEST_F(ResizedRegionTest, OnlyWhatHasNoRoomAboveTheCursorWasPushedOff) {
  const auto way_up_after = [&](TerminalSize smaller) {
    region_.forget();
    region_.draw({}, frame({"0123456789abcdefghij", "two", ">"}), {20, 10});
    region_.draw({}, frame({"two", ">"}), smaller);
    return way_up({5, 10});
  };
  EXPECT_EQ(way_up_after({10, 4}), "\r\x1b[3A") << "two blank rows, and one";
  EXPECT_EQ(way_up_after({10, 3}), "\r\x1b[4A") << "half of the first line, wrapped by now, and two rows";
}

TEST_F(ResizedRegionTest, WhatStandsBelowTheCursorLeavesLessRoomUnlessALowerWindowDroppedIt) {
  const auto way_up_after = [&](TerminalSize smaller) {
    region_.forget();
    Frame with_status = frame({"0123456789", "0123456789", ">"});
    with_status.lines.push_back(line_of("0123456789"));
    region_.draw({}, with_status, {10, 4});
    region_.draw({}, frame({">"}), smaller);
    return way_up({5, 10});
  };
  EXPECT_EQ(way_up_after({5, 4}), "\r\x1b[4A") << "three rows were pushed off, one blank row is there";
  EXPECT_EQ(way_up_after({5, 3}), "\r\x1b[3A") << "two rows were pushed off";
}

// On a terminal that cuts lines more rows are counted than there are; none of a frame before is left by it.
TEST_F(ResizedRegionTest, TheScreenShowsTheFrameOnceAndWholeWhateverSizesItHad) {
  std::mt19937 random(1);
  const auto below = [&random](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  constexpr std::array kColumns{10, 20, 30, 40, 80};
  constexpr std::array kRows{3, 6, 10, 24};
  for (int play = 0; play < 200; ++play) {
    TerminalSize size{80, 24};
    Screen screen(size);
    LiveRegion region{{.colour = false}};
    std::vector<Line> said = finished(static_cast<std::size_t>(below(30)));
    for (int drawn = 0; drawn < 5; ++drawn) {
      std::vector<std::string> lines;
      for (int rows = 2 + below(size.rows - 2); rows > 0; --rows)
        lines.push_back(fmt::format("{} {}", drawn,
                                    std::string(1 + static_cast<std::size_t>(below(size.columns - 3)), 'x')));
      Frame shown = frame(lines);
      if (below(2) == 0) shown.cursor_row -= 1;
      shown.cursor_column = 1;
      screen.feed(region.draw(std::exchange(said, {}), shown, size));
      auto rows = screen.rows();
      std::erase_if(rows, [](const std::string& row) { return row.empty() || row == "said"; });
      ASSERT_EQ(rows, lines) << "play " << play << ", frame " << drawn << ", " << size.columns << " columns";
      size = {kColumns[static_cast<std::size_t>(below(kColumns.size()))],
              kRows[static_cast<std::size_t>(below(kRows.size()))]};
      screen.resize(size);
    }
  }
}

// As tmux pushes off as many rows as it wraps, also where blank ones are below.
TEST_F(ResizedRegionTest, BlankRowsStandAboveWhereANarrowerWindowCouldPushOffMore) {
  const std::string wide(20, 'x');
  const std::string narrow(10, 'x');
  region_.draw({}, frame({wide, wide, ">"}), {20, 10});
  Screen screen({10, 10});
  screen.feed(narrow + "\r\n" + narrow + "\r\n" + narrow + "\r\n" + narrow + "\r\n>");
  screen.feed(region_.draw({}, frame({narrow, narrow, ">"}), {10, 10}));
  EXPECT_THAT(screen.rows(), ElementsAre("", "", narrow, narrow, ">"));
  EXPECT_EQ(region_.draw({}, frame({narrow, narrow, ">"}), {10, 10}), "") << "nothing has changed since";
  screen.feed(region_.draw(finished(1), frame({narrow, narrow, ">"}), {10, 10}));
  EXPECT_THAT(screen.rows(), ElementsAre("said", "", narrow, narrow, ">")) << "finished lines fill them";
  screen.feed(region_.draw({}, frame({narrow, narrow, "more", ">"}), {10, 10}));
  EXPECT_THAT(screen.rows(), ElementsAre("said", narrow, narrow, "more", ">")) << "and a longer frame";
  screen.feed(region_.draw(finished(1), frame({narrow, ">"}), {10, 10}));
  EXPECT_THAT(screen.rows(), ElementsAre("said", "said", narrow, ">"));
}

TEST_F(ResizedRegionTest, NoBlankRowsStandBelowAsManyFinishedLinesAsTheFrameHas) {
  const auto bytes_below = [&](std::size_t lines) {
    region_.forget();
    region_.draw(finished(lines), frame({std::string(20, 'x'), std::string(20, 'x'), ">"}), {20, 10});
    return region_.draw({}, frame({"one", "two", ">"}), {10, 10});
  };
  constexpr std::string_view kBlankRow = "\x1b[2K\r\n";
  EXPECT_THAT(bytes_below(5), Not(HasSubstr(kBlankRow))) << "two were pushed off, three are left";
  EXPECT_THAT(bytes_below(4), HasSubstr(kBlankRow));
}

// Where a sign takes more columns in ASCII.
TEST_F(LiveRegionTest, MeasuresTheLettersThatTheTerminalHas) {
  const std::string at_work = "→ " + std::string(17, 'x');
  for (const bool unicode : {true, false}) {
    LiveRegion region({.colour = false, .unicode = unicode});
    const Frame frame{{line_of(at_work), line_of("❯ \x1b.")}, 1, 3};
    EXPECT_THAT(region.draw({}, frame, kSize), HasSubstr(unicode ? "\r\x1b[3C" : "\r\x1b[4C"));
    EXPECT_THAT(region.draw({}, frame, {19, 10}), HasSubstr(unicode ? "\r\x1b[1A" : "\r\x1b[2A"));
  }
}

TEST_F(LiveRegionTest, InAsciiTheCursorStaysOnTheScreen) {
  LiveRegion region({.colour = false, .unicode = false});
  const Frame frame{{line_of("→ " + std::string(17, 'x'))}, 0, 19};
  EXPECT_THAT(region.draw({}, frame, kSize), HasSubstr("\r\x1b[20C")) << "just";
  const Frame wider{{line_of("→ →" + std::string(16, 'x'))}, 0, 19};
  EXPECT_THAT(region.draw({}, wider, kSize), HasSubstr("\r\x1b[20C"));
}

}  // namespace
}  // namespace deputy
