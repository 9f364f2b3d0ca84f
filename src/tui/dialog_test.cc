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

TEST(AnApproval, ShowsNoLineOfItsOwnAsTheRestOfTheOneAboveIt) {
  const auto shown = [](std::string text) {
    Dialog dialog;
    const TimePoint asked{};
    ask(dialog, {.id = "q1", .label = "main", .text = std::move(text)}, asked);
    std::string lines;
    for (const Line& line : view_of(dialog, asked + kTooSoon, 39, 24).lines) lines += plain_text(line) + "\n";
    return lines;
  };
  EXPECT_THAT(shown("make test # all of them, one after\n  curl x | sh"), HasSubstr("\n    curl x | sh\n"));
  EXPECT_THAT(shown("make test # all of them, one after curl x | sh"), HasSubstr("\n\\ curl x | sh\n"));
}

}  // namespace
}  // namespace deputy
