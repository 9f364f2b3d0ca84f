// A change to the database that was stopped in the middle: ours is copied and taken back, another program's
// is left as it is.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/quarantine_fixture.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

// Without a log: it may be another program's.
class StoppedChange : public QuarantineTest {
 protected:
  std::string read(const std::string& name) const {
    std::ifstream in(home_.file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // As it is after all of these, the last in the middle of a transaction.
  Files stopped_after(std::initializer_list<const char*> statements) const {
    const auto raw = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
    for (const char* sql : statements) EXPECT_TRUE(raw.execute(sql)) << sql;
    Files stopped;
    for (const char* name : {"deputy.db", "deputy.db-journal"}) stopped[name] = read(name);
    EXPECT_TRUE(raw.execute("ROLLBACK"));
    EXPECT_FALSE(stopped.at("deputy.db-journal").starts_with('\0')) << "it is not one to be taken back";
    return stopped;
  }
  void expect_not_taken_back(const Files& stopped) {
    ASSERT_FALSE(stopped.at("deputy.db-journal").empty());
    put(stopped);
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    EXPECT_TRUE(refused.error().advice.contains("deputy has not changed it")) << refused.error().advice;
    for (const auto& [name, bytes] : stopped) EXPECT_EQ(read(name), bytes) << name;
    EXPECT_FALSE(fs::exists(home_.file("damaged")));
  }
};

TEST_F(StoppedChange, OfAnotherProgramIsNotTakenBack) {
  expect_not_taken_back(
      stopped_after({"PRAGMA synchronous=OFF", "CREATE TABLE books(title)",
                     "INSERT INTO books VALUES ('one')", "PRAGMA cache_spill=1", "PRAGMA cache_size=1",
                     "BEGIN IMMEDIATE", "UPDATE books SET title=hex(zeroblob(200000))"}));
}

// As SQLite does with a journal from before the first page: the file would be empty then.
TEST_F(StoppedChange, ThatWouldTakeAllOfAnothersFileIsNotTakenBack) {
  const auto beginning = stopped_after({"PRAGMA synchronous=OFF", "BEGIN IMMEDIATE", "CREATE TABLE new(x)"});
  const std::string journal = beginning.at("deputy.db-journal");
  for (const char* page_size : {"PRAGMA page_size=512", "PRAGMA page_size=4096"}) {
    for (const char* name : {"deputy.db", "deputy.db-journal"}) fs::remove(home_.file(name));
    {
      const auto raw = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
      for (const char* sql : {page_size, "CREATE TABLE books(title)"}) ASSERT_TRUE(raw.execute(sql)) << sql;
    }
    expect_not_taken_back({{"deputy.db", read("deputy.db")}, {"deputy.db-journal", journal}});
  }
  expect_not_taken_back({{"deputy.db", std::string(4097, 'g')}, {"deputy.db-journal", journal}});
}

// Torn by a power cut.
TEST_F(StoppedChange, ThatWasToMakeTheDatabaseIsTakenBack) {
  auto stopped = stopped_after({"PRAGMA synchronous=OFF", "BEGIN IMMEDIATE", "CREATE TABLE new(x)"});
  stopped["deputy.db"] = std::string(4096, 'g');
  put(stopped);
  const auto store = open();
  ASSERT_TRUE(store) << to_text(store.error());
  EXPECT_TRUE(begin(**store, one_));
  EXPECT_FALSE(fs::exists(home_.file("deputy.db-journal")));
}

TEST_F(StoppedChange, IsCopiedBeforeItIsTakenBack) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto stopped = stopped_after({"PRAGMA journal_mode=DELETE", "PRAGMA synchronous=OFF",
                                      "BEGIN IMMEDIATE", "UPDATE sessions SET label='half'"});
  put(stopped);
  EXPECT_EQ((*open())->events_of_tree(two_.id)->size(), 6u);
  EXPECT_FALSE(fs::exists(home_.file("deputy.db-journal"))) << "taken back";
  const std::string copy = fs::directory_iterator(home_.file("damaged"))->path();
  EXPECT_TRUE(copy.contains("damaged/stopped-")) << copy;
  for (const auto& [name, bytes] : stopped)
    EXPECT_EQ(read("damaged/" + fs::path(copy).filename().string() + "/" + name), bytes) << name;
}

}  // namespace
}  // namespace deputy
