// What is found damaged is read as far as it can be, copied aside, and not written to before that.
#include "store/sqlite/quarantine.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "base/disk_locks.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tree_locks.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

constexpr std::streamoff kPage = 4096;

using Files = std::map<std::string, std::string>;

// Passes on what it is asked.
class OtherFolder : public Folder {
 public:
  explicit OtherFolder(std::unique_ptr<Folder> folder) : folder_(std::move(folder)) {}
  const std::string& path() const override { return folder_->path(); }
  int descriptor() const override { return folder_->descriptor(); }
  Result<std::unique_ptr<Folder>> open_folder(std::string_view name) const override {
    return folder_->open_folder(name);
  }
  Result<std::unique_ptr<Place>> look_up(std::string_view name) const override {
    return folder_->look_up(name);
  }
  Result<FileStatus> status(std::string_view name) const override { return folder_->status(name); }
  Result<std::vector<Entry>> list(std::string_view name) const override { return folder_->list(name); }
  Result<std::string> read(std::string_view name, std::uint64_t offset, std::size_t max) const override {
    return folder_->read(name, offset, max);
  }
  Result<void> make_folder(std::string_view name) const override { return folder_->make_folder(name); }
  Result<void> append_to(std::string_view name, std::string_view bytes, Durable durable) const override {
    return folder_->append_to(name, bytes, durable);
  }
  Result<void> replace(std::string_view name, std::string_view bytes, Durable durable) const override {
    return folder_->replace(name, bytes, durable);
  }
  Result<void> rename(std::string_view from, std::string_view to) const override {
    return folder_->rename(from, to);
  }
  Result<void> remove(std::string_view name) const override { return folder_->remove(name); }

 private:
  std::unique_ptr<Folder> folder_;
};

// As a disk does whose names cannot be synced: what was renamed has its new name, and that was not promised.
class FailsAfterItRenamed final : public OtherFolder {
 public:
  using OtherFolder::OtherFolder;
  Result<void> rename(std::string_view from, std::string_view to) const override {
    TRY(OtherFolder::rename(from, to));
    return fail(ErrorCode::io, "cannot sync the folder");
  }
};

// In which something happens whenever the log was copied.
class WhileLogIsCopied final : public OtherFolder {
 public:
  WhileLogIsCopied(std::unique_ptr<Folder> folder, std::function<void()> happens)
      : OtherFolder(std::move(folder)), happens_(std::move(happens)) {}
  Result<void> append_to(std::string_view name, std::string_view bytes, Durable durable) const override {
    TRY(OtherFolder::append_to(name, bytes, durable));
    if (name.ends_with("/deputy.db-wal")) happens_();
    return {};
  }

 private:
  std::function<void()> happens_;
};

class QuarantineTest : public testing::Test {
 protected:
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
    fs::remove(home_.file("deputy.db-shm"));
    fs::remove(home_.file("deputy.db-wal"));
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
    for (const auto& folder : fs::directory_iterator(home_.file("damaged"), absent)) {
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

  TempFolder home_;
  SimLoop loop_{1};
  const Session one_ = root("sess_1_aaaaaa");
  const Session two_ = root("sess_1_bbbbbb");
  Files killed_;
};

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

TEST_F(QuarantineTest, ThirtyTwoCopiesAreKeptAndNoMore) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (int other = 0; other < 31; ++other)
    fs::create_directories(home_.file("damaged/other-" + std::to_string(other)));
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto last = set_aside(*folder, database, "database", "");
  ASSERT_TRUE(last) << to_text(last.error());
  EXPECT_EQ(set_aside(*folder, database, "database", "")->folder, last->folder)
      << "it is like it, and serves";
  fs::resize_file(last->folder + "/deputy.db", 100);
  const auto refused = set_aside(*folder, database, "database", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(refused.error().message.contains("32 copies")) << refused.error().message;
  EXPECT_TRUE(refused.error().advice.contains("move them away")) << refused.error().advice;
}

TEST_F(QuarantineTest, WhatWasLeftUnfinishedIsNoCopyAndIsRemovedOnceNobodyCopiesThere) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (int left = 1; left <= 32; ++left) {
    const std::string unfinished = home_.file("damaged/unfinished-" + std::to_string(left));
    fs::create_directories(unfinished);
    for (const char* name : {"/deputy.db", "/.deputy-0123.tmp"}) std::ofstream(unfinished + name) << "half";
  }
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  auto other = *DiskLocks::open(*folder, kLockName);
  ASSERT_TRUE(*other.take(kPastTreePlaces + 1)) << "another process copies";
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto copy = set_aside(*folder, database, "database", "");
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(copy_of("database").at("deputy.db"), files().at("deputy.db"));
  EXPECT_TRUE(fs::exists(home_.file("damaged/unfinished-1/deputy.db")));
  EXPECT_EQ(std::distance(fs::directory_iterator(home_.file("damaged")), {}), 2);
}

TEST_F(QuarantineTest, ACopyThatCannotHaveItsNameSaysWhy) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto copy = set_aside(*folder, database, std::string(300, 'x'), "");
  ASSERT_FALSE(copy);
  EXPECT_TRUE(copy.error().message.contains("File name too long")) << copy.error().message;
}

TEST_F(QuarantineTest, ACopyWhoseNameMayNotLastIsNone) {
  ASSERT_NO_FATAL_FAILURE(make());
  const FailsAfterItRenamed failing(*SystemDisk().open(home_.path(), IfAbsent::fail));
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto copy = set_aside(failing, database, "database", "");
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().message, "cannot sync the folder");
  EXPECT_TRUE(fs::is_empty(home_.file("damaged"))) << "nobody takes it for a copy later";
}

TEST_F(QuarantineTest, WhereAnotherProcessBeginsTheLogAnewItIsCopiedAgain) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  const auto another = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
  ASSERT_TRUE(another.integer("SELECT count(*) FROM sessions"));
  ASSERT_EQ(another.write_back(), true);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  int copied = 0;
  const WhileLogIsCopied folder(*SystemDisk().open(home_.path(), IfAbsent::fail), [&] {
    if (++copied == 1) EXPECT_TRUE(another.execute("UPDATE sessions SET label='later'"));
  });
  const auto copy = set_aside(folder, database, "database", "");
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(copied, 2);
  constexpr std::size_t kLogHeader = 32;
  EXPECT_NE(files().at("deputy.db-wal").substr(0, kLogHeader),
            killed_.at("deputy.db-wal").substr(0, kLogHeader))
      << "it was not begun anew";
  EXPECT_EQ(copy_of("database"), files());
}

TEST_F(QuarantineTest, WhatIsWrittenToAllTheTimeIsTriedThreeTimes) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  int copied = 0;
  int begun_anew = 0;
  const WhileLogIsCopied folder(*SystemDisk().open(home_.path(), IfAbsent::fail), [&] {
    if (++copied > begun_anew) return;
    std::fstream log(home_.file("deputy.db-wal"), std::ios::binary | std::ios::in | std::ios::out);
    constexpr std::streamoff kSaltAt = 16;
    const int was = log.seekg(kSaltAt).get();
    log.seekp(kSaltAt).put(static_cast<char>(was ^ 1));
  });
  begun_anew = 3;
  const auto refused = set_aside(folder, database, "database", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(copied, 3);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_EQ(refused.error().advice, "try again");
  EXPECT_TRUE(fs::is_empty(home_.file("damaged")));
  copied = 0;
  begun_anew = 2;
  const auto copy = set_aside(folder, database, "database", "");
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(copied, 3);
  EXPECT_EQ(copy_of("database"), files());
}

// Copied a piece at a time: of one piece, of several, and of several and a part.
TEST_F(QuarantineTest, AnyLengthIsCopiedWhole) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (const std::size_t length : {kPiece - 1, kPiece, kPiece + 1, 3 * kPiece, 3 * kPiece + 4096}) {
    std::string bytes = killed_.at("deputy.db");
    for (std::size_t at = bytes.size(); at < length; ++at) bytes += static_cast<char>(at * at % 251);
    put({{"deputy.db", bytes}});
    const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
    const auto copy = set_aside(*folder, database, "database-" + std::to_string(length), "");
    ASSERT_TRUE(copy) << length << ": " << to_text(copy.error());
    EXPECT_EQ(files("damaged/" + fs::path(copy->folder).filename().string()).at("deputy.db"), bytes);
    EXPECT_EQ(set_aside(*folder, database, "again", "")->folder, copy->folder) << "it is like it, and serves";
  }
}

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

// What is cut off is no copy.
TEST_F(QuarantineTest, OneThatIsTooLargeToBeCopiedIsSaidToBe) {
  ASSERT_TRUE(open());
  fs::resize_file(home_.file("deputy.db"), (std::uintmax_t{1} << 32) + 1);
  const auto database = Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto copied = set_aside(*folder, *database, "database", "");
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(copied.error().advice.contains("by hand"));
  EXPECT_FALSE(fs::exists(home_.file("damaged")));
}

}  // namespace
}  // namespace deputy
