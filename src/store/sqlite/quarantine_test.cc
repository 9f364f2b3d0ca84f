// What is found damaged is read as far as it can be, copied aside, and not written to before that.
#include "store/sqlite/quarantine.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "store/sqlite/damage_met.h"
#include "support/quarantine_fixture.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

TEST_F(QuarantineTest, WhoOnlyReadsWritesNothingBack) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  {
    const auto store = *open();
    EXPECT_EQ(store->events_of_tree(two_.id)->size(), 6u);
    EXPECT_EQ(store->sessions({})->size(), 2u);
  }
  EXPECT_EQ(files(), killed_);
  EXPECT_TRUE((*open())->claim(two_.id));
  EXPECT_FALSE(files().contains("deputy.db-wal")) << "who writes also writes back";
}

TEST_F(QuarantineTest, WhatIsReadAndFoundDamagedIsCopiedAndNotWrittenBack) {
  ASSERT_NO_FATAL_FAILURE(make());
  flip(killed_.at("deputy.db"), "hello from sess_1_aaaaaa");
  put(killed_);
  {
    const auto store = *open();
    const auto damaged = store->events_of_session(one_.id);
    ASSERT_FALSE(damaged);
    EXPECT_TRUE(damaged.error().advice.contains("a copy of what was found is in")) << damaged.error().advice;
    EXPECT_EQ(copy_of("sess_1_aaaaaa"), killed_);
    ASSERT_FALSE(store->claim(one_.id));
    EXPECT_EQ(store->events_of_tree(two_.id)->size(), 6u);
    EXPECT_EQ(files(), killed_);
    EXPECT_TRUE(store->claim(two_.id));
  }
  EXPECT_EQ(files().at("deputy.db"), killed_.at("deputy.db"));
  EXPECT_EQ(std::distance(fs::directory_iterator(home_.file("damaged")), {}), 1);
}

// While it is open, whoever opens the database reads its log from the index that is there.
TEST_F(QuarantineTest, WhoLooksForALossHandsTheDatabaseOn) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto look = look_for_loss(*folder);
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->loss);
  ASSERT_TRUE(look->database);
  EXPECT_GT(*look->database->integer("SELECT count(*) FROM journal"), 0);
}

// It is open, and others go on with it: nobody is told to move it away.
TEST_F(QuarantineTest, WhoMeetsDamageInOneThatIsOpenIsToldWhatCanStillBeRead) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto asked = database.integer("SELECT x FROM nowhere");
  ASSERT_FALSE(asked);
  EXPECT_TRUE(asked.error().advice.contains("start anew")) << "of one that is not open";
  DamageMet damage(*folder);
  const auto told = damage.kept_as_found(asked, database, kWholeDatabase);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().message, asked.error().message);
  const auto of_session = damage.kept_as_found(asked, database, one_.id.value);
  EXPECT_TRUE(of_session.error().message.starts_with("what is kept of " + one_.id.value))
      << of_session.error().message;
  EXPECT_FALSE(told.error().advice.contains("start anew")) << told.error().advice;
  EXPECT_TRUE(told.error().advice.contains("can still be read: `deputy sessions ls`")) << told.error().advice;
  EXPECT_TRUE(told.error().advice.contains("a copy of what was found is in")) << told.error().advice;
}

TEST_F(QuarantineTest, WhatIsReadInAnotherWayIsCopiedToo) {
  ASSERT_NO_FATAL_FAILURE(make());
  tear(killed_, "sessions");
  tear(killed_, "journal_of_session");
  tear(killed_, "sqlite_autoindex_journal_1");
  Files torn{{"deputy.db", killed_.at("deputy.db")}};  // as if the log had been empty
  put(torn);
  fs::remove(home_.file("deputy.mark"));
  {
    const auto store = *open();
    ASSERT_TRUE(store->session(one_.id));
    EXPECT_EQ(copy_of("database"), torn);
    EXPECT_EQ((*store->session(one_.id))->id, one_.id);
    EXPECT_EQ(store->sessions({})->size(), 2u);
    EXPECT_EQ(store->events_of_tree(one_.id)->size(), 2u);
    EXPECT_EQ(store->events_of_session(one_.id)->size(), 2u);
    const auto refused = store->claim(one_.id);
    ASSERT_FALSE(refused);
    EXPECT_FALSE(refused.error().advice.contains("has not changed")) << refused.error().advice;
  }
  EXPECT_EQ(files().at("deputy.db"), torn.at("deputy.db"));
}

TEST_F(QuarantineTest, DamageThatOnlyAWriteMeetsIsCopiedAndNothingIsWrittenBack) {
  ASSERT_NO_FATAL_FAILURE(make());
  tear(killed_, "sessions_by_state");
  put({{"deputy.db", killed_.at("deputy.db")}});
  fs::remove(home_.file("deputy.mark"));
  {
    const auto store = *open();
    const auto failed = begin(*store, root("sess_1_cccccc"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::corrupt);
    EXPECT_TRUE(failed.error().advice.contains("damaged/database")) << failed.error().advice;
    EXPECT_FALSE(failed.error().advice.contains("has not changed")) << failed.error().advice;
  }
  EXPECT_EQ(copy_of("database").at("deputy.db"), killed_.at("deputy.db"));
  EXPECT_EQ(files().at("deputy.db"), killed_.at("deputy.db"));
}

TEST_F(QuarantineTest, AnIndexThatSaysItIsEmptyHidesNoSession) {
  ASSERT_NO_FATAL_FAILURE(make());
  Session child = root("sess_1_cccccc");
  child.tree = one_.id;
  child.parent = one_.id;
  ASSERT_TRUE(begin(**open(), child));  // written back
  auto emptied = files();
  ASSERT_FALSE(emptied.contains("deputy.db-wal"));
  for (const char* index : {"sessions_of_parent", "sessions_by_state"}) {
    const auto count_at = first_page_of(index) + 3;
    emptied.at("deputy.db").replace(count_at, 2, 2, '\0');
  }
  put(emptied);
  {
    const auto raw = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
    EXPECT_EQ(*raw.integer("SELECT count(*) FROM sessions WHERE parent='sess_1_aaaaaa'"), 0) << "control";
  }
  const auto store = *open();
  EXPECT_EQ(store->sessions({.parent = one_.id})->size(), 1u);
  EXPECT_EQ(store->sessions({.roots_only = true})->size(), 2u);
  EXPECT_EQ(store->sessions({.unfinished_only = true})->size(), 3u);
}

// SQLite would write over the pages that it does not know of.
TEST_F(QuarantineTest, AFileThatIsNotAsLongAsItSaysIsReadAndNotWritten) {
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_TRUE((*open())->claim(two_.id));  // written back
  const auto whole = files();
  ASSERT_FALSE(whole.contains("deputy.db-wal"));
  constexpr std::size_t kLastByteOfPages = 31;
  for (const int more : {-1, 1}) {
    auto other = whole;
    auto& count = other.at("deputy.db").at(kLastByteOfPages);
    count = static_cast<char>(count + more);
    put(other);
    const auto store = *open();
    EXPECT_FALSE(store->can_write());
    EXPECT_TRUE(store->loss());
    EXPECT_FALSE(store->claim(SessionId("sess_1_cccccc")));
    EXPECT_FALSE(store->post({.tree = one_.id, .session = one_.id}));
    ASSERT_TRUE(store->events_of_tree(one_.id));
    EXPECT_EQ(store->events_of_tree(one_.id)->size(), 2u);
    EXPECT_EQ(files().at("deputy.db"), other.at("deputy.db"));
    EXPECT_EQ(copy_of("database").at("deputy.db"), other.at("deputy.db"));
    fs::remove_all(home_.file("damaged"));
  }
  put(whole);
  EXPECT_TRUE((*open())->can_write());
}

TEST_F(QuarantineTest, WhatIsDamagedLaterIsCopiedToo) {
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_TRUE((*open())->claim(two_.id));  // written back
  const auto whole = files();
  std::vector<Files> torn;
  for (const char* index : {"sqlite_autoindex_sessions_1", "sessions_of_tree"}) {
    put(whole);
    torn.push_back(whole);
    tear(torn.back(), index);
    put(torn.back());
    for (int times = 0; times < 2; ++times) {
      const auto store = *open();
      EXPECT_TRUE(store->session(one_.id)) << "it is found without";
      EXPECT_TRUE(store->sessions({.tree = one_.id}));
    }
    EXPECT_EQ(copies_of("database").size(), torn.size()) << index;
  }
  EXPECT_THAT(copies_of("database"), testing::UnorderedElementsAreArray(torn));
}

TEST_F(QuarantineTest, AnOlderCopyIsNotTakenForOneOfWhatIsDamagedSince) {
  const Session three = root("sess_1_cccccc");
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_TRUE((*open())->claim(two_.id));  // written back
  auto damaged = files();
  flip(damaged.at("deputy.db"), "hello from sess_1_aaaaaa");
  put(damaged);
  ASSERT_FALSE((*open())->events_of_tree(one_.id));
  {
    const auto store = *open();
    ASSERT_TRUE(begin(*store, three));
    ASSERT_TRUE(note(*store, three.id, "hello from sess_1_cccccc"));
  }
  damaged = files();
  ASSERT_FALSE(damaged.contains("deputy.db-wal"));
  flip(damaged.at("deputy.db"), "hello from sess_1_cccccc");
  put(damaged);
  const auto store = *open();
  EXPECT_FALSE(store->events_of_tree(one_.id));
  const auto later = store->events_of_tree(three.id);
  ASSERT_FALSE(later);
  EXPECT_TRUE(later.error().advice.contains("damaged/sess_1_cccccc-")) << later.error().advice;
  EXPECT_EQ(copy_of("sess_1_cccccc"), damaged);
  EXPECT_EQ(copies_of("sess_1_aaaaaa").size(), 1u) << "the older one serves what was met before";
}

// With room in the log a commit does not make it longer, and two may come within one tick of its time.
TEST_F(QuarantineTest, WhatWasWrittenSinceACopyIsNoticedThoughTheLogKeepsItsLengthAndTime) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (const Session& session : {one_, two_}) flip(killed_.at("deputy.db"), "hello from " + session.id.value);
  put(killed_);
  const auto store = *open();
  ASSERT_FALSE(store->events_of_tree(one_.id));
  const std::string log = home_.file("deputy.db-wal");
  const auto length = fs::file_size(log);
  const auto time = fs::last_write_time(log);
  ASSERT_TRUE(begin(*store, root("sess_1_cccccc")));
  ASSERT_EQ(fs::file_size(log), length) << "it had no room";
  fs::last_write_time(log, time);
  const auto later = store->events_of_tree(two_.id);
  ASSERT_FALSE(later);
  EXPECT_TRUE(later.error().advice.contains("damaged/sess_1_bbbbbb-")) << later.error().advice;
  EXPECT_EQ(copy_of("sess_1_bbbbbb"), files());
}

TEST_F(QuarantineTest, AFileThatAnotherProgramMadeLongerSinceACopyIsCopiedAgain) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (const Session& session : {one_, two_}) flip(killed_.at("deputy.db"), "hello from " + session.id.value);
  put(killed_);
  const auto store = *open();
  ASSERT_FALSE(store->events_of_tree(one_.id));
  const std::string database = home_.file("deputy.db");
  fs::resize_file(database, fs::file_size(database) + 4096);
  const auto later = store->events_of_tree(two_.id);
  ASSERT_FALSE(later);
  EXPECT_TRUE(later.error().advice.contains("damaged/sess_1_bbbbbb-")) << later.error().advice;
  EXPECT_EQ(copy_of("sess_1_bbbbbb"), files());
}

TEST_F(QuarantineTest, ACopyHasItsNameOnceItIsWhole) {
  ASSERT_NO_FATAL_FAILURE(make());
  tear(killed_, "sessions");
  Files torn{{"deputy.db", killed_.at("deputy.db")}};
  put(torn);
  fs::remove(home_.file("deputy.mark"));
  const std::string left = home_.file("damaged/unfinished-1");
  fs::create_directories(left);
  std::ofstream(left + "/deputy.db-wal") << "of one that was never finished";
  ASSERT_TRUE((*open())->session(one_.id));
  EXPECT_EQ(copy_of("database"), torn);
  EXPECT_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace deputy
