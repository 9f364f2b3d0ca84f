#include "tui/input_line.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

InputLine typed(std::string_view text) {
  InputLine input;
  insert(input, text);
  return input;
}

TEST(InputLine, EditsByGrapheme) {
  InputLine input = typed("añ日🇫🇷");
  edit(input, {KeyName::backspace});
  EXPECT_EQ(input.text, "añ日");
  edit(input, {KeyName::left});
  edit(input, {KeyName::text, "e\u0301"});
  EXPECT_EQ(input.text, "añe\u0301日");
  edit(input, {KeyName::backspace});
  EXPECT_EQ(input.text, "añ日");
  edit(input, {KeyName::remove});
  EXPECT_EQ(input.text, "añ");
}

TEST(InputLine, MovesAndRemovesByWordsAndLines) {
  InputLine input = typed("one two\nthree four");
  edit(input, {KeyName::word_left});
  edit(input, {KeyName::control, "k"});
  EXPECT_EQ(input.text, "one two\nthree ");
  edit(input, {KeyName::control, "a"});
  edit(input, {KeyName::text, ">"});
  EXPECT_EQ(input.text, "one two\n>three ");
  edit(input, {KeyName::up});
  edit(input, {KeyName::control, "u"});
  EXPECT_EQ(input.text, "ne two\n>three ");
  edit(input, {KeyName::end});
  edit(input, {KeyName::remove_word});
  EXPECT_EQ(input.text, "ne \n>three ");
}

TEST(InputLine, RecallsWhatWasTypedAndKeepsTheDraft) {
  InputLine input = typed("first");
  EXPECT_EQ(take_text(input), "first");
  insert(input, "second");
  take_text(input);
  insert(input, "second");
  take_text(input);
  EXPECT_EQ(input.history.size(), 2u) << "the same again is kept once";
  insert(input, "draft");
  edit(input, {KeyName::up});
  EXPECT_EQ(input.text, "second");
  edit(input, {KeyName::up});
  edit(input, {KeyName::up});
  EXPECT_EQ(input.text, "first");
  edit(input, {KeyName::down});
  edit(input, {KeyName::down});
  EXPECT_EQ(input.text, "draft");
}

TEST(InputLine, APasteKeepsItsLines) {
  InputLine input = typed("x");
  edit(input, {KeyName::paste, "a\n\tb\nc"});
  EXPECT_EQ(input.text, "xa\n\tb\nc");
  const auto view = view_of(input, "> ", 40, 8);
  ASSERT_EQ(view.lines.size(), 3u);
  EXPECT_EQ(plain_text(view.lines[0]), "> xa");
  EXPECT_EQ(plain_text(view.lines[1]), "      b");
  EXPECT_EQ(view.cursor_row, 2u);
  EXPECT_EQ(view.cursor_column, 3u);
}

TEST(InputLine, WrapsAndShowsTheRowsAroundTheCursor) {
  InputLine input = typed(std::string(100, 'a'));
  const auto view = view_of(input, "> ", 22, 3);
  ASSERT_EQ(view.lines.size(), 3u);
  for (const auto& line : view.lines) EXPECT_LE(width_of(line), 22u);
  EXPECT_EQ(view.cursor_row, 2u);
  EXPECT_LT(view.cursor_column, 22u);
  edit(input, {KeyName::home});
  EXPECT_EQ(view_of(input, "> ", 22, 3).cursor_row, 0u);
}

TEST(InputLine, ShowsWhatATypedCharacterHides) {
  const auto view = view_of(typed("a\u202eb"), "> ", 40, 3);
  EXPECT_EQ(plain_text(view.lines[0]), "> a\\u{202e}b");
}

}  // namespace
}  // namespace deputy
