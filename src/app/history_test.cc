#include "app/history.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HistoryTest : public testing::Test {
 protected:
  std::unique_ptr<Folder> home() { return disk.open("/home", IfAbsent::create).value(); }
  ManualClock clock;
  MemoryDisk disk{clock};
};

TEST_F(HistoryTest, IsWhatWasTypedOverRestarts) {
  History(home()).add("first");
  History(home()).add("second\nof two lines, \"quoted\"");
  EXPECT_THAT(History(home()).load(), ElementsAre("first", "second\nof two lines, \"quoted\""));
}

TEST_F(HistoryTest, IsEmptyWhereThereIsNoneYetOrNoFolderForIt) {
  EXPECT_THAT(History(home()).load(), IsEmpty());
  const History nowhere(nullptr);
  nowhere.add("lost");
  EXPECT_THAT(nowhere.load(), IsEmpty());
}

TEST_F(HistoryTest, OfAFileThatIsTooLongTheNewestTextsAreLeft) {
  const std::string newest = "\"newest\"\n";
  const std::string oldest = "\"" + std::string(History::kMostBytes - newest.size() - 3, 'x') + "\"\n";
  ASSERT_TRUE(home()->replace("history.jsonl", oldest + newest));
  EXPECT_EQ(History(home()).load().size(), 2u) << "just long enough";
  ASSERT_TRUE(home()->replace("history.jsonl", oldest + newest + "\n"));
  EXPECT_THAT(History(home()).load(), ElementsAre("newest")) << "the oldest is cut";
}

TEST(HistoryIn, PassesOverWhatIsNoText) {
  EXPECT_THAT(history_in("half\"\n{\"a\":1}\n\"good\"\n\n\"open"), ElementsAre("good"));
}

TEST(HistoryIn, HoldsWhatCouldHaveBeenTyped) {
  EXPECT_THAT(history_in(R"("two\r\nlines\rthree\u001b[2J\tend")"), ElementsAre("two\nlines\nthree[2J\tend"))
      << "a carriage return before a line break would make one character of both";
}

}  // namespace
}  // namespace deputy
