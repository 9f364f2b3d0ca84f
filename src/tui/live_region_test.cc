#include "tui/live_region.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace deputy
