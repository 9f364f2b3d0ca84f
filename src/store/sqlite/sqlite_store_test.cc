#include "store/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "async/waiter.h"
#include "base/disk_mark.h"
#include "store/sqlite/database.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/tree_locks.h"
#include "support/sqlite_store_fixture.h"

namespace deputy {
namespace {

TEST_F(SqliteStoreTest, MakesADatabaseOfTheNewestSchema) {
  ASSERT_TRUE(open());
  const auto raw = Database::open(database(), Database::Mode::read_only);
  EXPECT_EQ(raw->integer("PRAGMA user_version"), newest_schema());
}

TEST_F(SqliteStoreTest, RefusesANewerDatabaseAndLeavesItAsItIs) {
  ASSERT_TRUE(open());
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("PRAGMA user_version=999"));
    ASSERT_TRUE(raw->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  const std::string before = bytes_of(database());
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_new);
  EXPECT_TRUE(refused.error().message.contains("newer deputy"));
  EXPECT_EQ(bytes_of(database()), before);
}

// As a power cut in the middle of a checkpoint leaves it.
TEST_F(SqliteStoreTest, OpensADatabaseWhoseFirstPageIsTornWhereItsLogHasIt) {
  const auto store = *open();
  const std::string log = bytes_of(database() + "-wal");
  std::string torn = bytes_of(database());
  ASSERT_FALSE(log.empty());
  ASSERT_GE(torn.size(), 100u);
  const TempFolder copy;
  torn.replace(0, 60, 60, 'g');
  std::ofstream(copy.file("deputy.db"), std::ios::binary) << torn;
  std::ofstream(copy.file("deputy.db-wal"), std::ios::binary) << log;
  const auto folder = *SystemDisk().open(copy.path(), IfAbsent::fail);
  const auto again = SqliteStore::open(loop_, *folder, std::make_unique<InlineWriter>(loop_));
  EXPECT_TRUE(again) << to_text(again.error());
}

// As a newer deputy leaves it that runs, or was killed: its file alone still says the old version.
TEST_F(SqliteStoreTest, RefusesADatabaseThatOnlyItsLogSaysIsNewerAndLeavesBothAsTheyAre) {
  ASSERT_TRUE(open());
  const auto newer = Database::open(database(), Database::Mode::read_write);
  ASSERT_TRUE(newer->execute("PRAGMA user_version=999"));
  const std::string before = bytes_of(database());
  const std::string log = bytes_of(database() + "-wal");
  ASSERT_TRUE(check_header(before, database()));
  ASSERT_FALSE(log.empty());
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_new);
  EXPECT_EQ(bytes_of(database()), before);
  EXPECT_EQ(bytes_of(database() + "-wal"), log);
}

TEST_F(SqliteStoreTest, RefusesWhatIsNotADatabaseAndLeavesItAsItIs) {
  const std::string garbage(8192, 'x');
  std::ofstream(database()) << garbage;
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(refused.error().advice.empty());
  EXPECT_EQ(bytes_of(database()), garbage);
}

TEST_F(SqliteStoreTest, SaysWhenTheDatabaseCannotBeReadAndMakesNothing) {
  std::filesystem::create_directory(
      database());  // a folder where the file should be: also root cannot read that
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("cannot read " + database())) << refused.error().message;
  EXPECT_TRUE(refused.error().advice.contains("--home"));
  EXPECT_FALSE(std::filesystem::exists(home_.file("subagent")));
}

// As between the lock and the name of who takes up what a killed process held.
TEST_F(SqliteStoreTest, WhoHeldATreeBeforeIsNotNamedAsItsHolder) {
  const SessionId tree("sess_1_aaaaaa");
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  ASSERT_TRUE((*open())->claim(tree));
  const auto store = *open();
  const auto former = last_holder(*Database::open(database(), Database::Mode::read_only), tree);
  ASSERT_TRUE(former && former->starts_with("process "));
  auto taking = *TreeLocks::open(*folder);
  ASSERT_EQ(taking.take(tree), true);
  const auto refused = store->claim(tree);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_TRUE(refused.error().message.ends_with("is run by another process that has just taken it up"))
      << refused.error().message;
  EXPECT_EQ(store->holder(tree), "another process that has just taken it up");
  ASSERT_TRUE(taking.show_name(tree));
  EXPECT_TRUE(store->claim(tree).error().message.contains(*former));
  EXPECT_EQ(store->holder(tree), *former);
  taking.release(tree);
  EXPECT_EQ(store->holder(tree), std::nullopt);
  EXPECT_TRUE(store->claim(tree));
  EXPECT_TRUE(taking.is_named_by_another(tree));
}

TEST_F(SqliteStoreTest, FilesAreForTheOwnerAlone) {
  auto store = *open();
  for (const char* name : {"deputy.db", "deputy.db-wal"}) {
    struct stat status{};
    ASSERT_EQ(stat(home_.file(name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
}

TEST_F(SqliteStoreTest, TheMarkSaysHowFarTheJournalCameThoughASessionWasMade) {
  auto store = *open();
  Event event;
  for (const char* id : {"sess_1_aaaaaa", "sess_1_bbbbbb"}) {
    Session session;
    session.id = session.tree = SessionId(id);
    session.uuid = Uuid(id);
    ASSERT_TRUE(store->claim(session.tree));
    event.tree = session.tree;
    event.run = {session.id, 1};
    event.fact = SessionCreated{session};
    Event note = event;
    note.fact = NoteTaken{"a note"};
    ASSERT_TRUE(run(loop_, store->record({event, note, note})));
  }
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  EXPECT_EQ(DiskMark::open(*folder, "deputy.mark")->read(), 6u);
}

TEST_F(SqliteStoreTest, RefusesAFolderWhoseDatabaseIsGoneButNotWhatWasInIt) {
  const auto fresh = [this] {
    const auto store = open();
    return store.has_value();
  };
  ASSERT_TRUE(fresh());
  std::filesystem::remove(database());
  std::ofstream(database() + "-wal") << "what a log holds";
  const auto without_file = open();
  ASSERT_FALSE(without_file);
  EXPECT_EQ(without_file.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(without_file.error().message.contains("it is not there")) << without_file.error().message;
  const std::string& advice = without_file.error().advice;
  EXPECT_TRUE(advice.contains("deputy.db-wal") && advice.contains("deputy.mark away")) << advice;
  EXPECT_FALSE(advice.contains("deputy.db,")) << "what is not there cannot be moved: " << advice;
  EXPECT_EQ(bytes_of(database() + "-wal"), "what a log holds");
  std::filesystem::remove(database() + "-wal");
  EXPECT_TRUE(fresh()) << "nothing was kept";
  std::filesystem::remove(database());
  std::filesystem::remove(database() + "-wal");
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  DiskMark::open(*folder, "deputy.mark")->write(3);
  EXPECT_FALSE(fresh());
  const std::string with_mark_alone = open().error().advice;
  EXPECT_TRUE(with_mark_alone.contains("deputy.mark away to start anew")) << with_mark_alone;
  EXPECT_FALSE(with_mark_alone.contains("deputy.db-wal")) << with_mark_alone;
  DiskMark::open(*folder, "deputy.mark")->write(0);
  EXPECT_TRUE(fresh());
}

TEST_F(SqliteStoreTest, ALetterMovesTheMarkToo) {
  const auto store = *open();
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto mark = DiskMark::open(*folder, "deputy.mark");
  const auto posted = store->post({.tree = SessionId("t"), .session = SessionId("t"), .text = "more"});
  ASSERT_TRUE(posted);
  EXPECT_EQ(mark->read(), 1u);
  ASSERT_TRUE(store->discard(*posted));
  ASSERT_TRUE(store->post({.tree = SessionId("t"), .session = SessionId("t"), .text = "again"}));
  EXPECT_EQ(mark->read(), 2u) << "also where the one before is gone";
}

Task<> take_notes(Store& store, Event event, int count, int& kept) {
  for (int i = 0; i < count; ++i) {
    event.fact = NoteTaken{std::to_string(i)};
    store.ride_along({event});
    if (co_await store.record({event})) ++kept;
  }
}

// What others commit in the middle of a read is not taken for damage.
Task<> read_until(Loop& loop, const Store& store, SessionId tree, const int& kept, int most) {
  while (kept < most) {
    EXPECT_TRUE(store.events_of_tree(tree));
    EXPECT_TRUE(store.events_of_session(tree));
    const Waiter<bool> turn;
    loop.post([turn] { turn.resume(true); });
    co_await turn.wait();
  }
}

TEST_F(SqliteStoreTest, ManySessionsShareTheWriterThread) {
  SystemLoop loop;
  auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  auto store = *SqliteStore::open(loop, **folder, std::make_unique<ThreadWriter>());
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  ASSERT_TRUE(run(loop, store->record({event})));
  int kept = 0;
  TaskGroup group(loop);
  for (int i = 0; i < 16; ++i) group.spawn(take_notes(*store, event, 5, kept));
  group.spawn(read_until(loop, *store, event.tree, kept, 80));
  run(loop, group.join());
  EXPECT_EQ(kept, 80);
  EXPECT_EQ(store->events_of_tree(event.tree)->size(), 161u);
}

}  // namespace
}  // namespace deputy
