#include "tui/dialog.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::HasSubstr;

TEST(AQuestionThatIsCut, TellsWholeWhatIsHiddenHoweverNarrowTheScreenIs) {
  constexpr std::size_t kRows = 12;
  Dialog dialog;
  const TimePoint asked{};
  std::string text;
  for (int line = 0; line < 40; ++line) text += "line\n";
  ask(dialog, {.id = "q1", .label = "main", .text = text}, asked);
  for (const std::size_t columns : {39U, 79U}) {
    std::string shown;
    const auto view = view_of(dialog, asked + kTooSoon, columns, kRows);
    EXPECT_LE(view.lines.size(), kRows) << columns;
    for (const Line& line : view.lines) {
      EXPECT_LE(width_of(line), columns);
      shown += plain_text(line) + " ";
    }
    EXPECT_THAT(shown, HasSubstr("more lines: any key")) << columns;
    EXPECT_THAT(shown, HasSubstr("…)")) << columns;
  }
}

}  // namespace
}  // namespace deputy
