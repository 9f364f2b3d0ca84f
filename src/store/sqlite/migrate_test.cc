#include "store/sqlite/migrate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "store/migrations/0001_initial.h"
#include "store/migrations/0002_mail.h"
#include "store/migrations/0003_proof.h"
#include "store/migrations/0004_answers.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

std::string header(std::uint32_t version) {
  std::string bytes(kHeaderBytes, '\0');
  bytes[18] = bytes[19] = 2;  // keeps a log
  bytes.replace(0, 15, "SQLite format 3");
  for (int at = 0; at < 4; ++at)
    bytes[60 + static_cast<std::size_t>(at)] = static_cast<char>(version >> (24 - 8 * at));
  return bytes;
}

TEST(CheckHeader, TakesWhatThisProgramKnowsAndAFileThatIsEmpty) {
  EXPECT_EQ(check_header("", "db"), true);
  EXPECT_EQ(check_header(header(0), "db"), false) << "to be migrated";
  std::string newest = header(static_cast<std::uint32_t>(newest_schema()));
  EXPECT_EQ(check_header(newest, "db"), true);
  newest[18] = newest[19] = 1;
  EXPECT_EQ(check_header(newest, "db"), false) << "to keep a log";
}

TEST(CheckHeader, RefusesOneVersionMore) {
  const auto newer = check_header(header(static_cast<std::uint32_t>(newest_schema()) + 1), "/home/deputy.db");
  EXPECT_EQ(newer.error().code, ErrorCode::too_new);
  EXPECT_THAT(newer.error().message, testing::StartsWith("/home/deputy.db was written by a newer deputy"));
  EXPECT_FALSE(check_header(header(0x01000000), "db"));
}

TEST(CheckHeader, TakesAVersionBelowZeroForDamage) {
  for (const std::uint32_t version : {0x80000000U, 0xffffffffU}) {
    const auto damaged = check_header(header(version), "/home/deputy.db");
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
    EXPECT_THAT(damaged.error().message, testing::StartsWith("/home/deputy.db is damaged"));
  }
}

TEST(CheckHeader, NamesWhatIsNoDatabase) {
  for (const auto& bytes :
       {std::string(kHeaderBytes, 'x'), header(0).substr(0, kHeaderBytes - 1), std::string("S")})
    EXPECT_EQ(check_header(bytes, "db").error().code, ErrorCode::corrupt);
}

TEST(AReadableSchema, HasTheTablesOfTheNewest) {
  const TempFolder folder;
  const auto older = *Database::open(folder.file("older.db"), Database::Mode::read_write);
  for (const auto step : {k0001Initial, k0002Mail, k0003Proof, k0004Answers})
    ASSERT_TRUE(older.execute(step));
  const auto newest = *Database::open(folder.file("newest.db"), Database::Mode::read_write);
  ASSERT_TRUE(migrate(newest));
  constexpr std::string_view kAll = "SELECT group_concat(sql) FROM sqlite_schema";
  EXPECT_EQ(older.text(kAll), newest.text(kAll));
  EXPECT_TRUE(is_readable_schema(4));
  EXPECT_TRUE(is_readable_schema(newest_schema()));
  EXPECT_FALSE(is_readable_schema(3));
  EXPECT_FALSE(is_readable_schema(newest_schema() + 1));
}

TEST(TheNewestSchema, FindsSessionsByTheirParentAndByTheirState) {
  const TempFolder folder;
  const auto newest = *Database::open(folder.file("newest.db"), Database::Mode::read_write);
  ASSERT_TRUE(migrate(newest));
  const auto way_to = [&newest](std::string_view where) {
    return newest.text(fmt::format(
        "SELECT sql FROM sqlite_schema WHERE name IN (SELECT name FROM pragma_index_list('sessions')) "
        "AND sql LIKE '%({})%'",
        where));
  };
  EXPECT_TRUE(way_to("parent")->contains("sessions_of_parent"));
  EXPECT_TRUE(way_to("state")->contains("sessions_by_state"));
}

// Brings a database back to what it was before records proved their place.
void put_back_to_schema_2(const std::string& path) {
  const auto raw = *Database::open(path, Database::Mode::read_write);
  for (const char* column :
       {"trees DROP COLUMN holder", "journal DROP COLUMN nth", "sessions DROP COLUMN events",
        "sessions DROP COLUMN crc", "inbox DROP COLUMN crc", "inbox DROP COLUMN question"})
    ASSERT_TRUE(raw.execute(fmt::format("ALTER TABLE {}", column))) << column;
  std::vector<std::pair<std::int64_t, std::uint32_t>> sums;
  auto rows = *raw.prepare("SELECT seq, session, run, step, call, kind, body FROM journal");
  while (*rows.step()) {
    sums.emplace_back(rows.integer(0),
                      crc32(fmt::format("{}/{}/{}/{}/{}/{}", rows.text(1), rows.integer(2), rows.integer(3),
                                        rows.integer(4), rows.text(5), rows.text(6))));
  }
  for (const auto& [seq, sum] : sums)
    ASSERT_TRUE(raw.execute(fmt::format("UPDATE journal SET crc={} WHERE seq={}", sum, seq)));
  ASSERT_TRUE(raw.execute("PRAGMA user_version=2"));
}

class MigrateTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
    return *SqliteStore::open(loop_, **folder, std::make_unique<InlineWriter>(loop_));
  }
  void record(SqliteStore& store, Fact fact) {
    Event event;
    event.tree = session_.tree;
    event.run = {session_.id, 1};
    event.fact = std::move(fact);
    ASSERT_TRUE(run(loop_, store.record({event})));
  }

  TempFolder home_;
  SimLoop loop_{1};
  Session session_ = [] {
    Session session;
    session.id = session.tree = SessionId("sess_1_aaaaaa");
    session.label = "old";
    return session;
  }();
};

TEST_F(MigrateTest, ADatabaseOfEachFormerSchemaIsOpened) {
  for (const int version : {1, 2}) {
    const std::string path = home_.file(fmt::format("{}.db", version));
    const auto raw = *Database::open(path, Database::Mode::read_write);
    ASSERT_TRUE(raw.execute(k0001Initial));
    if (version == 2) ASSERT_TRUE(raw.execute(k0002Mail));
    ASSERT_TRUE(raw.execute(fmt::format("PRAGMA user_version={}", version)));
    EXPECT_TRUE(migrate(raw));
    EXPECT_EQ(raw.integer("PRAGMA user_version"), newest_schema());
  }
}

TEST_F(MigrateTest, AVersionThatIsNotThatOfTheTablesIsDamageAndNothingIsChanged) {
  const auto raw = *Database::open(home_.file("whole.db"), Database::Mode::read_write);
  ASSERT_TRUE(migrate(raw));
  for (const int version : {-1, std::numeric_limits<int>::min(), 0, 1, 2}) {
    ASSERT_TRUE(raw.execute(fmt::format("PRAGMA user_version={}", version)));
    const auto tables = raw.integer("PRAGMA schema_version");
    const auto refused = migrate(raw);
    ASSERT_FALSE(refused) << version;
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt) << version;
    EXPECT_THAT(refused.error().message, testing::HasSubstr("whole.db is damaged")) << version;
    EXPECT_THAT(refused.error().advice, testing::HasSubstr("restore a copy")) << version;
    EXPECT_EQ(raw.integer("PRAGMA user_version"), version);
    EXPECT_EQ(raw.integer("PRAGMA schema_version"), tables) << version;
  }
}

TEST_F(MigrateTest, SessionsOfAFormerSchemaAreReadAndGoOn) {
  {
    const auto store = open();
    ASSERT_TRUE(store->claim(session_.tree));
    record(*store, SessionCreated{session_});
    record(*store, RunStarted{});
    record(*store, NoteTaken{"before"});
  }
  put_back_to_schema_2(home_.file("deputy.db"));
  const auto store = open();
  ASSERT_TRUE(store->claim(session_.tree)) << store->claim(session_.tree).error().message;
  record(*store, NoteTaken{"after"});
  const auto events = store->events_of_session(session_.id);
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 4);
  EXPECT_EQ(std::get<NoteTaken>((*events)[2].fact).content, "before");
  EXPECT_EQ(std::get<NoteTaken>((*events)[3].fact).content, "after");
  EXPECT_EQ((*store->session(session_.id))->label, "old");
}

TEST_F(MigrateTest, WhatAFormerSchemaProvesIsStillHeldToIt) {
  {
    const auto store = open();
    ASSERT_TRUE(store->claim(session_.tree));
    record(*store, SessionCreated{session_});
    record(*store, NoteTaken{"before"});
  }
  put_back_to_schema_2(home_.file("deputy.db"));
  ASSERT_TRUE(Database::open(home_.file("deputy.db"), Database::Mode::read_write)
                  ->execute("UPDATE journal SET body=replace(body, 'before', 'bofore')"));
  const auto store = open();
  EXPECT_EQ(store->claim(session_.tree).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace deputy
