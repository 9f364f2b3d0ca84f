#include "tui/style.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "tui/line.h"

namespace deputy {
namespace {

constexpr Style kAscii{.colour = false, .unicode = false};

TEST(WithoutUtf8, WhatWasLeftOutIsToldByThreeDots) {
  EXPECT_EQ(in_ascii("export KEY=… (or another)"), "export KEY=... (or another)");
  EXPECT_EQ(to_terminal(line_of("(… 8 more lines)"), kAscii), "(... 8 more lines)");
}

TEST(WithoutUtf8, TheDotsTakeOfTheSpacesBeforeAColumnThatThereAreEnoughOf) {
  EXPECT_EQ(in_ascii("goal…    3s"), "goal...  3s");
  EXPECT_EQ(in_ascii("goal…   3s"), "goal...   3s") << "two would not be left between them";
}

TEST(WithoutUtf8, WhatIsCutEndsWithThreeDotsAndIsNoWider) {
  const Line line = cut(line_of("compacted", Tone::good), 7);
  EXPECT_EQ(plain_text(line), "compac…");
  EXPECT_EQ(to_terminal(line, kAscii), "comp...");
  EXPECT_EQ(to_terminal(cut(line_of("compacted"), 2), kAscii), "..");
  EXPECT_EQ(to_terminal(cut(line_of("compacted"), 1), kAscii), ".");
}

TEST(WithoutUtf8, WhatStandsAtTheRightEndStaysThere) {
  const Line cut_left = justified(line_of("a long activity"), line_of("48s"), 12);
  EXPECT_EQ(plain_text(cut_left), "a long…  48s");
  EXPECT_EQ(to_terminal(cut_left, kAscii), "a lo...  48s");
  const Line text_left = justified(line_of("said…"), line_of("48s"), 16);
  EXPECT_EQ(plain_text(text_left), "said…        48s");
  EXPECT_EQ(to_terminal(text_left, kAscii), "said...      48s");
}

TEST(WithoutUtf8, AControlIsToldByItsCaretAndItsLetter) {
  EXPECT_EQ(in_ascii(made_visible("\x1b[31m\a\r\x7f")), "^[[31m^G^M^?");
  EXPECT_EQ(in_ascii(made_visible(std::string(1, '\0') + "\x1f")), "^@^_");
  EXPECT_EQ(in_ascii("␠"), "?") << "past the controls";
}

TEST(WithoutUtf8, AControlInWhatIsApprovedIsToldByItsOwnCode) {
  EXPECT_EQ(spelled_in_ascii(made_visible("grep ^[a \x1b[31m \\e\x7f")), "grep ^[a \\u{1b}[31m \\e\\u{7f}");
  EXPECT_EQ(spelled_in_ascii("␀␟␠ na\u00efve 日🙂"),
            "\\u{0}\\u{1f}\\u{2420} na\\u{ef}ve \\u{65e5}\\u{1f642}");
}

TEST(WithoutUtf8, WhatIsAtWorkDoesNotLookLikeThePrompt) {
  EXPECT_EQ(in_ascii("❯ go"), "> go");
  EXPECT_EQ(in_ascii("→ Read x"), "-> Read x");
  EXPECT_EQ(marks_of(kAscii).working, "->");
  const Line row = justified(line_of("→ Read x"), line_of("48s"), 16);
  EXPECT_EQ(to_terminal(row, kAscii), "-> Read x    48s") << "what stands at the right end stays there";
}

}  // namespace
}  // namespace deputy
