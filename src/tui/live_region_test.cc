#include "tui/live_region.h"

#include <gmock/gmock.h>

#include "tui/screen.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace deputy
