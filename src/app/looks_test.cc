#include "app/looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include "support/pseudo_terminal.h"

namespace deputy {
namespace {

constexpr Terminals kAll{.in = true, .out = true, .err = true};

MapEnvironment usual() { return MapEnvironment({{"TERM", "xterm-256color"}, {"LANG", "en_GB.UTF-8"}}); }

TEST(Looks, ATerminalGetsALiveViewInColourAndAPerson) {
  const auto looks = looks_of(kAll, usual(), {});
  EXPECT_EQ(looks.progress, ProgressForm::live);
  EXPECT_TRUE(looks.err.colour);
  EXPECT_TRUE(looks.err.unicode);
  EXPECT_TRUE(looks.person);
}

TEST(Looks, WithoutATerminalThereAreLinesWithoutColourAndNobody) {
  const auto looks = looks_of({}, usual(), {});
  EXPECT_EQ(looks.progress, ProgressForm::lines);
  EXPECT_FALSE(looks.err.colour);
  EXPECT_FALSE(looks.person);
}

TEST(Looks, ADumbTerminalAnUnknownOneAndPlainGetLines) {
  auto environment = usual();
  EXPECT_EQ(looks_of(kAll, environment, {.plain = true}).progress, ProgressForm::lines);
  environment.set("TERM", "dumb");
  EXPECT_EQ(looks_of(kAll, environment, {}).progress, ProgressForm::lines);
  EXPECT_FALSE(looks_of(kAll, environment, {}).err.colour);
  environment.set("TERM", "");
  EXPECT_EQ(looks_of(kAll, environment, {}).progress, ProgressForm::lines);
}

// A region would be drawn over what others write there, so it is not drawn: there would be nothing to see.
TEST(Looks, WhatBeginsOnATerminalThatOthersHaveGetsLines) {
  Terminals terminals = kAll;
  terminals.in_background = true;
  EXPECT_EQ(looks_of(terminals, usual(), {}).progress, ProgressForm::lines);
}

TEST(Looks, NoColorIsHonouredUnlessColourIsAskedFor) {
  auto environment = usual();
  environment.set("NO_COLOR", "1");
  EXPECT_FALSE(looks_of(kAll, environment, {}).out.colour);
  EXPECT_TRUE(looks_of(kAll, environment, {.colour = ColourChoice::always}).out.colour);
  EXPECT_FALSE(looks_of(kAll, usual(), {.colour = ColourChoice::never}).out.colour);
}

TEST(Looks, TheFirstLocaleVariableThatIsSetDecides) {
  EXPECT_FALSE(looks_of(kAll, MapEnvironment(), {}).out.unicode);
  EXPECT_FALSE(looks_of(kAll, MapEnvironment({{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}}), {}).out.unicode);
  EXPECT_TRUE(looks_of(kAll, MapEnvironment({{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}}), {}).out.unicode);
  EXPECT_TRUE(looks_of(kAll, MapEnvironment({{"LC_ALL", ""}, {"LANG", "C.utf8"}}), {}).out.unicode)
      << "one that is empty says nothing";
}

TEST(Looks, KeysAreHiddenWhereTheyWouldBeShownInWhatIsLiveAndNobodyElseReadsThem) {
  EXPECT_TRUE(looks_of(kAll, usual(), {}).hides_keys);
  EXPECT_TRUE(looks_of({.in = true, .err = true}, usual(), {}).hides_keys) << "the result goes to a file";
  EXPECT_FALSE(looks_of({.in = true, .err = true, .pipes_out = true}, usual(), {}).hides_keys);
  EXPECT_FALSE(looks_of({.out = true, .err = true}, usual(), {}).hides_keys);
  EXPECT_FALSE(looks_of({.in = true, .out = true}, usual(), {}).hides_keys);
  EXPECT_FALSE(looks_of(kAll, usual(), {.plain = true}).hides_keys);
  Terminals elsewhere = kAll;
  elsewhere.in_background = true;
  EXPECT_FALSE(looks_of(elsewhere, usual(), {}).hides_keys);
}

TEST(Looks, EventsOnTheScreenReplaceProgress) {
  EXPECT_EQ(looks_of(kAll, usual(), {.output = OutputForm::stream_json}).progress, ProgressForm::none);
  EXPECT_EQ(looks_of({.err = true}, usual(), {.output = OutputForm::stream_json}).progress,
            ProgressForm::live);
}

TEST(RowWidth, IsThatOfTheTerminalAndInAPipeAny) {
  const PseudoTerminal terminal;
  winsize size{.ws_row = 24, .ws_col = 80};
  ASSERT_EQ(::ioctl(terminal.program(), TIOCSWINSZ, &size), 0);
  EXPECT_EQ(row_width(terminal.program()), 79u);
  size.ws_col = 1;
  ASSERT_EQ(::ioctl(terminal.program(), TIOCSWINSZ, &size), 0);
  EXPECT_EQ(row_width(terminal.program()), 20u) << "below that nothing can be read";
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(row_width(ends[1]), kAnyWidth);
  ::close(ends[0]);
  ::close(ends[1]);
}

using Rows = std::vector<std::vector<std::string>>;

TEST(Aligned, InAPipeNothingIsCut) {
  const std::string wide(300, 'w');
  EXPECT_THAT(aligned({{"A", "B"}, {wide, wide}}),
              testing::ElementsAre("A" + std::string(301, ' ') + "B", wide + "  " + wide));
}

TEST(Aligned, WhatIsLongIsCutWhereTheRoomIsEnoughToTellIt) {
  const Rows rows{{"id", std::string(40, 'w')}};
  EXPECT_THAT(aligned(rows, 44), testing::ElementsAre("id  " + std::string(40, 'w')));
  EXPECT_THAT(aligned(rows, 43), testing::ElementsAre("id  " + std::string(38, 'w') + "…"));
  EXPECT_THAT(aligned(rows, 36), testing::ElementsAre("id  " + std::string(31, 'w') + "…"));
  EXPECT_THAT(aligned(rows, 35), testing::ElementsAre("id\n    " + std::string(31, 'w') + "…"))
      << "there are not 32 columns left for it";
}

TEST(Aligned, AllRowsGoOnInAFurtherLineBeforeTheSameColumn) {
  EXPECT_THAT(aligned({{"A", "B", "C"}, {"aaaa", "bbbb", "cccc"}}, 16),
              testing::ElementsAre("A     B     C", "aaaa  bbbb  cccc"));
  EXPECT_THAT(aligned({{"A", "B", "C"}, {"aaaa", "bbbb", "cccc"}}, 15),
              testing::ElementsAre("A     B\n    C", "aaaa  bbbb\n    cccc"));
}

TEST(Aligned, AColumnIsAsWideAsItStandsOnTheScreen) {
  EXPECT_THAT(aligned({{"日本", "x"}, {"abcd", "y"}}), testing::ElementsAre("日本  x", "abcd  y"));
}

}  // namespace
}  // namespace deputy
