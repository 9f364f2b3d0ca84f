#include "tui/rows.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const std::vector<Line>& lines) {
  std::vector<std::string> all;
  for (const auto& line : lines) all.push_back(plain_text(line));
  return all;
}

TEST(NamedRow, IsExplainedBesideItsNameWithWhatFollowsBelowThat) {
  const std::string gap(26, ' ');
  EXPECT_THAT(texts(named_row("/quit", "leave", 80)), ElementsAre("  /quit" + gap.substr(7) + "leave"));
  EXPECT_THAT(
      texts(named_row("Tab", "choose a child: follow it, nudge it or cancel it", 60)),
      ElementsAre("  Tab" + gap.substr(5) + "choose a child: follow it, nudge", gap + "it or cancel it"));
}

TEST(NamedRow, IsExplainedBelowItsNameWhereThereIsNoRoom) {
  EXPECT_THAT(texts(named_row("Tab", "choose a child: follow it, nudge it", 30)),
              ElementsAre("  Tab", "    choose a child: follow it,", "    nudge it"));
  EXPECT_THAT(texts(named_row("an agent with a very long name", "it reads", 80)),
              ElementsAre("  an agent with a very long name", "    it reads"));
}

TEST(TableRows, AreWholeWhereTheyFit) {
  const std::string row = "[main]  main  completed";
  EXPECT_THAT(texts(table_rows(row + "\n", row.size())), ElementsAre(row)) << "at the limit";
  EXPECT_THAT(texts(table_rows(row + "\n", row.size() - 1)), ElementsAre("[main]  main", "    completed"));
}

TEST(TableRows, BreakBetweenTwoCellsAndNotWithinOne) {
  EXPECT_THAT(texts(table_rows("[main]     main    partial (timeout)  $0.1 (all $0.2)  sess_1\n"
                               "  [child]  reader  completed          $0.1             sess_2  \n",
                               40)),
              ElementsAre("[main]     main    partial (timeout)", "    $0.1 (all $0.2)  sess_1",
                          "  [child]  reader  completed", "    $0.1             sess_2"));
}

TEST(TableRows, ACellThatIsTooWideByItselfIsWrapped) {
  EXPECT_THAT(texts(table_rows("      a cell of many words\n", 16)),
              ElementsAre("      a cell of", "    many words"));
}

TEST(TableRows, NoneIsWiderThanTheScreen) {
  const std::string table =
      "  [a label]  general-purpose  waiting for the person since noon  in=1k  $0.1  id\n";
  for (std::size_t columns = 20; columns < 100; ++columns) {
    for (const auto& line : table_rows(table, columns)) EXPECT_LE(width_of(line), columns);
    for (const auto& line : named_row("/background CHILD", "let its parent go on without it", columns))
      EXPECT_LE(width_of(line), columns);
  }
}

}  // namespace
}  // namespace deputy
