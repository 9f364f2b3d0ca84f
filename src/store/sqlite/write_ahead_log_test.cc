// The write-ahead log of the database: how large it becomes, and the room behind it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "store/sqlite/database.h"
#include "support/sqlite_store_fixture.h"

namespace deputy {
namespace {

// Small records, of which each takes whole pages of the log.
TEST_F(SqliteStoreTest, TheLogIsWrittenBackAtFourMegabytes) {
  auto store = *open();
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  ASSERT_TRUE(run(loop_, store->record({event})));
  event.fact = NoteTaken{"a"};
  const auto log_bytes = [&] { return std::filesystem::file_size(database() + "-wal"); };
  // How often it was begun anew is in its header.
  const auto beginnings = [&] { return bytes_of(database() + "-wal").substr(12, 4); };
  const std::string first = beginnings();
  constexpr std::size_t kCommits = 1000;
  std::size_t largest = 0;
  for (std::size_t n = 0; n < kCommits; ++n) {
    ASSERT_TRUE(run(loop_, store->record({event})));
    largest = std::max<std::size_t>(largest, log_bytes());
  }
  constexpr std::size_t kMost = std::size_t{4} << 20;
  EXPECT_NE(beginnings(), first) << "it was never written back";
  EXPECT_GT(largest, kMost);
  EXPECT_LT(largest, kMost + (kMost / 10));
}

TEST_F(SqliteStoreTest, TheLogHasRoomForTheNextCommits) {
  auto store = *open();
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  ASSERT_TRUE(run(loop_, store->record({event})));
  event.fact = NoteTaken{"a"};
  constexpr int kCommits = 100;
  int grew = 0;
  const auto log_bytes = [&] { return std::filesystem::file_size(database() + "-wal"); };
  for (int n = 0; n < kCommits; ++n) {
    const auto before = log_bytes();
    ASSERT_TRUE(run(loop_, store->record({event})));
    grew += log_bytes() != before ? 1 : 0;
  }
  EXPECT_GT(grew, 0);
  EXPECT_LT(grew, kCommits / 2);
}

// As a killed process leaves it: with room that nobody came to use.
TEST_F(SqliteStoreTest, RoomBehindTheLogIsNoPartOfIt) {
  auto store = *open();
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  ASSERT_TRUE(run(loop_, store->record({event})));
  const std::string log = bytes_of(database() + "-wal");
  ASSERT_TRUE(log.ends_with(std::string(32 * 4096, '\0'))) << "it has no room";
  const TempFolder copy;
  for (const char* name : {"deputy.db", "deputy.db-wal", "deputy.mark"})
    std::ofstream(copy.file(name), std::ios::binary) << bytes_of(home_.file(name));
  const auto folder = *SystemDisk().open(copy.path(), IfAbsent::fail);
  const auto again = *SqliteStore::open(loop_, *folder, std::make_unique<InlineWriter>(loop_));
  EXPECT_EQ(again->loss(), std::nullopt);
  EXPECT_EQ(again->events_of_tree(event.tree)->size(), 1u);
  ASSERT_TRUE(again->claim(event.tree));
  event.fact = NoteTaken{"a"};
  ASSERT_TRUE(run(loop_, again->record({event})));
  EXPECT_EQ(again->events_of_tree(event.tree)->size(), 2u);
}

TEST_F(SqliteStoreTest, WhatOthersWroteIntoTheLogCounts) {
  auto store = *open();
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  auto another = Database::open(database(), Database::Mode::read_write);
  ASSERT_TRUE(another->execute("CREATE TABLE other(x)"));
  for (int times = 0; times < 5; ++times) {
    ASSERT_TRUE(another->execute("INSERT INTO other VALUES (zeroblob(4500000))"));
    ASSERT_TRUE(run(loop_, store->record({event})));
    event.fact = NoteTaken{"a"};
  }
  EXPECT_LT(std::filesystem::file_size(database() + "-wal"), 2 * 4'500'000);
}

}  // namespace
}  // namespace deputy
