#include "store/sqlite/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "base/clock.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  TempFolder folder_;
  Database database_ = *Database::open(folder_.file("some.db"), Database::Mode::read_write);
};

TEST_F(DatabaseTest, AQueryThatIsAskedAgainKnowsNothingOfWhatWasAskedBefore) {
  {
    auto asked = database_.prepare("SELECT ?1");
    ASSERT_TRUE(asked);
    ASSERT_EQ(asked->bind(std::int64_t{7}).step(), true);
    EXPECT_EQ(asked->integer(0), 7);
  }
  auto again = database_.prepare("SELECT ?1");
  ASSERT_TRUE(again);
  ASSERT_EQ(again->step(), true);
  EXPECT_FALSE(again->maybe_integer(0)) << "nothing is bound";
}

TEST_F(DatabaseTest, TheSameQueryIsAskedTwiceAtATime) {
  (void)*database_.prepare("SELECT ?1");  // one that is ready
  auto one = database_.prepare("SELECT ?1");
  auto other = database_.prepare("SELECT ?1");
  ASSERT_EQ(one->bind(std::int64_t{1}).step(), true);
  ASSERT_EQ(other->bind(std::int64_t{2}).step(), true);
  EXPECT_EQ(one->integer(0), 1);
  EXPECT_EQ(other->integer(0), 2);
}

TEST_F(DatabaseTest, AQueryThatIsReadyHoldsNothingAndSeesATableAsItIsNow) {
  ASSERT_TRUE(database_.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)"));
  EXPECT_EQ(database_.integer("SELECT max(a) FROM t"), 2);
  {
    auto left_in_the_middle = database_.prepare("SELECT a FROM t");
    ASSERT_EQ(left_in_the_middle->step(), true);
  }
  EXPECT_TRUE(database_.execute("DROP TABLE t; CREATE TABLE t (b, a); INSERT INTO t VALUES (3, 4)"));
  EXPECT_EQ(database_.integer("SELECT max(a) FROM t"), 4);
  ASSERT_TRUE(database_.execute("DROP TABLE t"));
  EXPECT_FALSE(database_.integer("SELECT max(a) FROM t"));
}

// Two that write into one log; what each knows of its length is from its own last commit.
class RoomInLog : public testing::Test {
 protected:
  RoomInLog() {
    for (const char* sql : {"PRAGMA journal_mode=WAL", "CREATE TABLE kept(x)"})
      EXPECT_TRUE(a_.execute(sql)) << sql;
  }
  std::string log() const { return home_.file("deputy.db-wal"); }
  std::uintmax_t log_bytes() const { return std::filesystem::file_size(log()); }

  static constexpr int kMany = 1000;  // pages: more than any of these tests writes
  TempFolder home_;
  Database a_ = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
  Database b_ = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
};

TEST_F(RoomInLog, IsNotMadeOverWhatAnotherWrote) {
  constexpr int kTimes = 5;
  ASSERT_TRUE(a_.execute("INSERT INTO kept VALUES ('of a')"));
  const int known = a_.log_pages();
  for (int n = 0; n < kTimes; ++n) ASSERT_TRUE(b_.execute("INSERT INTO kept VALUES (randomblob(20000))"));
  ASSERT_GT(b_.log_pages(), known + kTimes);
  const auto before = log_bytes();
  ASSERT_TRUE(a_.keep_room_in_log(kMany));
  EXPECT_GT(log_bytes(), before);
  EXPECT_TRUE(b_.check_pages());
  // As a killed process leaves it: whoever comes reads the log itself.
  const TempFolder copy;
  for (const char* name : {"deputy.db", "deputy.db-wal"})
    std::filesystem::copy_file(home_.file(name), copy.file(name));
  const auto again = *Database::open(copy.file("deputy.db"), Database::Mode::read_write);
  EXPECT_EQ(again.integer("SELECT count(*) FROM kept"), 1 + kTimes);
  EXPECT_TRUE(again.check_pages());
}

TEST_F(RoomInLog, IsNotMadeWhileAnotherWrites) {
  ASSERT_TRUE(a_.execute("INSERT INTO kept VALUES ('of a')"));
  const auto before = log_bytes();
  ASSERT_TRUE(b_.execute("BEGIN IMMEDIATE"));
  EXPECT_TRUE(a_.keep_room_in_log(kMany));
  EXPECT_EQ(log_bytes(), before);
  EXPECT_EQ(a_.integer("PRAGMA busy_timeout"), 5000) << "a commit has patience again";
  ASSERT_TRUE(b_.execute("ROLLBACK"));
  EXPECT_TRUE(a_.keep_room_in_log(kMany));
  EXPECT_GT(log_bytes(), before);
}

class RoomInLogRealTime : public RoomInLog {};

TEST_F(RoomInLogRealTime, IsNotWaitedForWhileAnotherWrites) {
  ASSERT_TRUE(a_.execute("INSERT INTO kept VALUES ('of a')"));
  ASSERT_TRUE(b_.execute("BEGIN IMMEDIATE"));
  const SystemClock clock;
  const auto began = clock.now();
  EXPECT_TRUE(a_.keep_room_in_log(kMany));
  EXPECT_LT(clock.now() - began, std::chrono::seconds(4)) << "as long as a commit has patience";
}

// Who embeds the runtime may use SQLite besides, and ask it.
TEST(TheProcess, IsNotChangedByWhoOpensADatabase) {
  const TempFolder folder;
  const auto database = Database::open(folder.file("some.db"), Database::Mode::read_write);
  ASSERT_TRUE(database);
  EXPECT_GT(sqlite3_memory_used(), 0);
}

TEST(TheProcess, CountsNoMemoryWhereItsProgramSaysSoBeforeItOpensADatabase) {
  const TempFolder folder;
  ASSERT_EQ(sqlite3_shutdown(), SQLITE_OK);  // as before the first one
  const auto before = sqlite3_memory_used();
  count_no_memory();
  {
    const auto database = Database::open(folder.file("some.db"), Database::Mode::read_write);
    ASSERT_TRUE(database);
    EXPECT_EQ(sqlite3_memory_used(), before);
  }
  ASSERT_EQ(sqlite3_shutdown(), SQLITE_OK);
  EXPECT_EQ(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1), SQLITE_OK);
}

}  // namespace
}  // namespace deputy
