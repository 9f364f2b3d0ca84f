// A store of two trees, left as a killed process leaves it, for tests to damage; and what was copied of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {

class QuarantineTest : public testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;

  Result<std::unique_ptr<SqliteStore>> open() {
    auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
    return SqliteStore::open(loop_, **folder, std::make_unique<InlineWriter>(loop_));
  }
  Result<void> note(SqliteStore& store, const SessionId& tree, const std::string& text) {
    Event event;
    event.tree = tree;
    event.run = {tree, 1};
    event.fact = NoteTaken{text};
    return run(loop_, store.record({event}));
  }
  static Session root(const char* id) {
    Session session;
    session.id = session.tree = SessionId(id);
    session.uuid = Uuid(id);
    return session;
  }
  Result<void> begin(SqliteStore& store, const Session& session) {
    TRY(store.claim(session.tree));
    Event event;
    event.tree = session.tree;
    event.run = {session.id, 1};
    event.fact = SessionCreated{session};
    return run(loop_, store.record({event}));
  }
  // Two trees; what is written last is in the log alone, as a killed process leaves it.
  void make() {
    {
      const auto store = *open();
      for (const Session& session : {one_, two_}) {
        ASSERT_TRUE(begin(*store, session));
        ASSERT_TRUE(note(*store, session.id, "hello from " + session.id.value));
      }
      for (int page = 0; page < 3; ++page)
        ASSERT_TRUE(
            note(*store, two_.id, std::string(3000, 'x')));  // so that the log has no page of the first
    }
    const auto store = *open();
    ASSERT_TRUE(store->claim(two_.id));
    ASSERT_TRUE(note(*store, two_.id, "in the log"));
    const auto killed = files();
    ASSERT_FALSE(killed.at("deputy.db-wal").empty());
    killed_ = killed;
  }
  // Once no store is open.
  void put(const Files& files) const {
    std::filesystem::remove(home_.file("deputy.db-shm"));
    std::filesystem::remove(home_.file("deputy.db-wal"));
    for (const auto& [name, bytes] : files)
      std::ofstream(home_.file(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  Files files(const std::string& folder = ".") const {
    Files found;
    for (const char* name : {"deputy.db", "deputy.db-wal"}) {
      std::ifstream in(home_.file(folder) + "/" + name, std::ios::binary);
      if (in) found[name] = {std::istreambuf_iterator<char>(in), {}};
    }
    return found;
  }
  std::vector<Files> copies_of(const std::string& name) const {
    std::vector<Files> found;
    std::error_code absent;
    for (const auto& folder : std::filesystem::directory_iterator(home_.file("damaged"), absent)) {
      const std::string called = folder.path().filename();
      if (called.starts_with(name + "-")) found.push_back(files("damaged/" + called));
    }
    return found;
  }
  Files copy_of(const std::string& name) const {
    const auto found = copies_of(name);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? Files{} : found.front();
  }
  static void flip(std::string& bytes, const std::string& text) {
    const auto at = bytes.find(text);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  }
  // Where in the file that of a table or an index begins.
  std::size_t first_page_of(const std::string& name) const {
    const auto raw = Database::open(home_.file("deputy.db"), Database::Mode::read_only);
    const auto page = raw->integer("SELECT rootpage FROM sqlite_schema WHERE name='" + name + "'");
    return static_cast<std::size_t>((*page - 1) * kPage);
  }
  // Half of the first page was never written.
  void tear(Files& files, const std::string& name) const {
    files.at("deputy.db").replace(first_page_of(name), kPage / 2, kPage / 2, '\0');
  }

  static constexpr std::streamoff kPage = 4096;
  TempFolder home_;
  SimLoop loop_{1};
  const Session one_ = root("sess_1_aaaaaa");
  const Session two_ = root("sess_1_bbbbbb");
  Files killed_;
};

}  // namespace deputy
