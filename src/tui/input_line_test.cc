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

TEST(InputLine, UpAndDownKeepTheColumnWhateverTheLettersWeigh) {
  InputLine input = typed("äöü日x\n0123456789");
  input.cursor = input.text.find("5");
  edit(input, {KeyName::up});
  EXPECT_EQ(input.text.substr(input.cursor, 1), "x") << "behind five columns";
  edit(input, {KeyName::down});
  EXPECT_EQ(input.text[input.cursor], '5');
  input.cursor = input.text.find("4");
  edit(input, {KeyName::up});
  EXPECT_EQ(input.text.substr(input.cursor, 3), "日") << "not into the middle of what is two wide";
}

TEST(InputLine, TheCursorStandsWhereSomethingWasTypedBeforeAMark) {
  InputLine input = typed("xy\u0301");
  input.cursor = 2;  // the mark was typed by itself, and the letter before it
  const auto view = view_of(input, "> ", 40, 3);
  EXPECT_EQ(view.cursor_column, 3u);
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

TEST(InputLine, APasteOfTenThousandLinesIsKeptWholeAndShownAroundTheCursor) {
  std::string pasted;
  for (int line = 0; line < 10'000; ++line) pasted += "line " + std::to_string(line) + "\n";
  InputLine input;
  edit(input, {KeyName::paste, pasted + "end"});
  EXPECT_EQ(input.text.size(), pasted.size() + 3);
  const auto at_end = view_of(input, "> ", 40, 8);
  ASSERT_EQ(at_end.lines.size(), 8u);
  EXPECT_EQ(plain_text(at_end.lines[0]), "  … 9,994 lines above");
  EXPECT_EQ(plain_text(at_end.lines[1]), "  line 9994");
  EXPECT_EQ(plain_text(at_end.lines[7]), "  end");
  EXPECT_EQ(at_end.cursor_row, 7u);

  input.cursor = input.text.find("line 5000");
  const auto within = view_of(input, "> ", 40, 8);
  ASSERT_EQ(within.lines.size(), 8u);
  EXPECT_EQ(plain_text(within.lines[within.cursor_row]), "  line 5000");
  EXPECT_EQ(within.cursor_row, 4u);
  EXPECT_EQ(plain_text(within.lines[0]), "  … 4,997 lines above");
  EXPECT_EQ(plain_text(within.lines[1]), "  line 4997");
  EXPECT_EQ(plain_text(within.lines[6]), "  line 5002");
  EXPECT_EQ(plain_text(within.lines[7]), "  … 4,998 lines below");

  input.cursor = 0;
  const auto at_begin = view_of(input, "> ", 40, 8);
  ASSERT_EQ(at_begin.lines.size(), 8u);
  EXPECT_EQ(plain_text(at_begin.lines[0]), "> line 0");
  EXPECT_EQ(plain_text(at_begin.lines[6]), "  line 6");
  EXPECT_EQ(plain_text(at_begin.lines[7]), "  … 9,994 lines below");
  EXPECT_EQ(at_begin.cursor_row, 0u);
}

TEST(InputLine, TellsOfLinesThatAreNotShownOnlyWhereThereAreSome) {
  InputLine input = typed("1\n2\n3");
  const auto all = view_of(input, "> ", 40, 3);
  ASSERT_EQ(all.lines.size(), 3u);
  EXPECT_EQ(plain_text(all.lines[0]), "> 1");
  EXPECT_EQ(plain_text(all.lines[2]), "  3");
  insert(input, "\n4");
  const auto last = view_of(input, "> ", 40, 3);
  ASSERT_EQ(last.lines.size(), 3u);
  EXPECT_EQ(plain_text(last.lines[0]), "  … 2 lines above");
  EXPECT_EQ(plain_text(last.lines[1]), "  3");
  EXPECT_EQ(plain_text(last.lines[2]), "  4");
  const auto tiny = view_of(input, "> ", 40, 2);
  ASSERT_EQ(tiny.lines.size(), 2u);
  EXPECT_EQ(plain_text(tiny.lines[0]), "  3") << "no row to spare";
}

TEST(InputLine, AnEmptyLineAtTheBeginningIsALineToo) {
  InputLine input;
  edit(input, {KeyName::paste, "\n\nc"});
  input.cursor = 1;
  const auto view = view_of(input, "> ", 40, 2);
  ASSERT_EQ(view.lines.size(), 2u);
  EXPECT_EQ(plain_text(view.lines[0]), "> ");
  EXPECT_EQ(view.cursor_row, 1u);
}

TEST(InputLine, ShowsWhatATypedCharacterHides) {
  const auto view = view_of(typed("a\u202eb"), "> ", 40, 3);
  EXPECT_EQ(plain_text(view.lines[0]), "> a\\u{202e}b");
}

}  // namespace
}  // namespace deputy
