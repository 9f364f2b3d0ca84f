// What the tests of SqliteStore share: a folder for its database, and what a tree begins with.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {

class SqliteStoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<SqliteStore>> open() {
    auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
    return SqliteStore::open(loop_, **folder, std::make_unique<InlineWriter>(loop_));
  }
  std::string database() const { return home_.file("deputy.db"); }

  // Of a session that is a tree of its own.
  static Event creation(const char* id = "sess_1_aaaaaa") {
    Session session;
    session.id = session.tree = SessionId(id);
    Event event;
    event.tree = session.tree;
    event.run = {session.id, 1};
    event.fact = SessionCreated{session};
    return event;
  }
  static std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TempFolder home_;
  SimLoop loop_{1};
};

}  // namespace deputy
