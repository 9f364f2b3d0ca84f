#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "async/waiter.h"
#include "base/clock.h"
#include "base/disk_mark.h"
#include "store/sqlite/database.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/tree_locks.h"
#include "store/transcript_files.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

// Of a session that is a tree of its own.
Event creation() {
  Session session;
  session.id = session.tree = SessionId("sess_1_aaaaaa");
  Event event;
  event.tree = session.tree;
  event.run = {session.id, 1};
  event.fact = SessionCreated{session};
  return event;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SqliteStoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<SqliteStore>> open() {
    auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
    return SqliteStore::open(loop_, **folder, std::make_unique<InlineWriter>(loop_));
  }
  std::string database() const { return home_.file("deputy.db"); }

  TempFolder home_;
  SimLoop loop_{1};
};

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

TEST_F(SqliteStoreTest, NamesADamagedRecordAndReadsTheOtherSessions) {
  auto store = *open();
  std::vector<Event> events;
  for (const char* id : {"sess_1_aaaaaa", "sess_1_bbbbbb"}) {
    Session session;
    session.id = session.tree = SessionId(id);
    ASSERT_TRUE(store->claim(session.tree));
    Event event;
    event.tree = session.tree;
    event.run = {session.id, 1};
    event.fact = SessionCreated{session};
    events.push_back(event);
    event.fact = InputGiven{Source::person, "hello"};
    events.push_back(event);
  }
  ASSERT_TRUE(run(loop_, store->record(events)));
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute(
        "UPDATE journal SET body=replace(body, 'hello', 'hullo') WHERE session='sess_1_aaaaaa'"));
  }
  const auto damaged = store->events_of_session(SessionId("sess_1_aaaaaa"));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(damaged.error().message.contains("record 2"));
  EXPECT_TRUE(store->events_of_session(SessionId("sess_1_bbbbbb")));
}

TEST_F(SqliteStoreTest, WhatAClaimHasReadIsNotReadAgainBeforeMoreIsRecorded) {
  const Event created = creation();
  {
    auto store = *open();
    ASSERT_TRUE(store->claim(created.tree));
    ASSERT_TRUE(run(loop_, store->record({created})));
  }
  auto store = *open();
  ASSERT_TRUE(store->claim(created.tree));
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("UPDATE journal SET body=replace(body, 'sess', 'mess')"));
  }
  EXPECT_EQ(store->events_of_session(created.tree)->size(), 1u);
  Event noted = created;
  noted.fact = NoteTaken{"n"};
  ASSERT_TRUE(run(loop_, store->record({noted})));
  EXPECT_FALSE(store->events_of_session(created.tree)) << "it is read, and damaged";
}

// The transcript of a session that begins another run is made from what it recorded before.
TEST_F(SqliteStoreTest, DamageThatOnlyAnExportMeetsIsCopiedToo) {
  const auto store = *open();
  Event event = creation();
  std::vector<Event> events{event};
  ASSERT_TRUE(store->claim(event.tree));
  for (Fact fact : {Fact(InputGiven{Source::person, "hello"}), Fact(RunEnded{})}) {
    event.fact = std::move(fact);
    events.push_back(event);
  }
  ASSERT_TRUE(run(loop_, store->record(events)));
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("UPDATE journal SET body=replace(body, 'hello', 'hullo')"));
  }
  ASSERT_FALSE(std::filesystem::exists(home_.file("damaged")));
  event.run.number = 2;
  event.fact = RunStarted{};
  ASSERT_TRUE(run(loop_, store->record({event}))) << "what is recorded does not hang on its export";
  EXPECT_TRUE(std::filesystem::exists(home_.file("damaged")));
}

TEST_F(SqliteStoreTest, ADamagedRowOfASessionIsMadeAgainFromTheJournal) {
  auto store = *open();
  Session session;
  session.id = session.tree = SessionId("sess_1_aaaaaa");
  session.label = "one";
  ASSERT_TRUE(store->claim(session.tree));
  Event event;
  event.tree = session.tree;
  event.run = {session.id, 1};
  event.fact = SessionCreated{session};
  ASSERT_TRUE(run(loop_, store->record({event})));
  const auto whole = store->session(session.id);
  auto raw = Database::open(database(), Database::Mode::read_write);
  ASSERT_TRUE(raw->execute("UPDATE sessions SET fixed=replace(fixed, 'one', 'two'), result='never said'"));
  EXPECT_EQ((*store->session(session.id))->label, "one");
  EXPECT_EQ((*store->session(session.id))->result, "");
  EXPECT_EQ(store->sessions({})->front().label, "one");
}

TEST_F(SqliteStoreTest, ARowThatIsGoneIsPutAgainWithWhatIsRecordedNext) {
  const auto store = *open();
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  ASSERT_TRUE(run(loop_, store->record({event})));
  const auto raw = Database::open(database(), Database::Mode::read_write);
  ASSERT_TRUE(raw->execute("DELETE FROM sessions"));
  event.fact = NoteTaken{"a"};
  ASSERT_TRUE(run(loop_, store->record({event})));
  EXPECT_EQ(raw->integer("SELECT count(*) FROM sessions WHERE id='sess_1_aaaaaa' AND events=2"), 1);
  EXPECT_TRUE(store->claim(event.tree)) << "what its row counts is what there is";
}

TEST_F(SqliteStoreTest, ATreeThatLacksARecordIsNotClaimedAndNotChanged) {
  auto store = *open();
  Session session;
  session.id = session.tree = SessionId("sess_1_aaaaaa");
  ASSERT_TRUE(store->claim(session.tree));
  Event event;
  event.tree = session.tree;
  event.run = {session.id, 1};
  for (Fact fact : {Fact(SessionCreated{session}), Fact(NoteTaken{"a"}), Fact(NoteTaken{"b"})}) {
    event.fact = std::move(fact);
    ASSERT_TRUE(run(loop_, store->record({event})));
  }
  store.reset();
  auto raw = Database::open(database(), Database::Mode::read_write);
  for (const char* missing : {"3", "2"}) {
    ASSERT_TRUE(raw->execute("DELETE FROM journal WHERE number=" + std::string(missing)));
    store = *open();
    const auto refused = store->claim(session.tree);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    EXPECT_EQ(raw->integer("SELECT epoch FROM trees"), 1) << "nothing is written before all was read";
    EXPECT_EQ(store->events_of_tree(session.tree).error().code, ErrorCode::corrupt);
    EXPECT_EQ(store->events_of_session(session.id).error().code, ErrorCode::corrupt);
    EXPECT_EQ(store->holder(session.tree), std::nullopt);
    store.reset();
  }
}

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

// Who is told of it may look at once, while the writer goes on.
TEST_F(SqliteStoreTest, AtTheEndOfATreeItsTranscriptsAreWholeBeforeAnybodyIsTold) {
  constexpr int kTrees = 200;
  constexpr int kSessions = 4;
  SystemLoop loop;
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto store = *SqliteStore::open(loop, **folder, std::make_unique<ThreadWriter>());
  std::vector<Session> sessions;  // of the tree that runs, its root first
  int ended = 0;
  store->subscribe([&](const Event& event) {
    if (event.run.session != event.tree || !std::holds_alternative<RunEnded>(event.fact)) return;
    ++ended;
    for (const Session& session : sessions) {
      const auto sealed = home_.file("subagent/" + TranscriptFiles::stem_of(session) + ".transcript.json");
      EXPECT_TRUE(bytes_of(sealed).ends_with("]}\n")) << sealed;
      EXPECT_FALSE(std::filesystem::exists(sealed + "l")) << sealed;
    }
  });
  for (int tree = 0; tree < kTrees && !HasFailure(); ++tree) {
    sessions.clear();
    std::vector<Event> begin;
    std::vector<Event> end;
    for (int i = 0; i < kSessions; ++i) {
      Session session;
      session.id = SessionId(fmt::format("sess_{}_{}", tree, i));
      session.uuid = Uuid(fmt::format("{}-{}", tree, i));
      session.tree = i == 0 ? session.id : sessions.front().id;
      if (i > 0) session.parent = session.tree;
      sessions.push_back(session);
      Event event;
      event.tree = session.tree;
      event.run = {session.id, 1};
      for (Fact fact : {Fact(SessionCreated{session}), Fact(RunStarted{}),
                        Fact(InputGiven{Source::person, "do it"}), Fact(RunEnded{})}) {
        event.fact = std::move(fact);
        begin.push_back(event);
      }
      end.insert(end.begin(), std::move(begin.back()));  // the root's comes last
      begin.pop_back();
    }
    const SessionId root = sessions.front().id;
    ASSERT_TRUE(store->claim(root));
    ASSERT_TRUE(run(loop, store->record(std::move(begin))));
    ASSERT_TRUE(run(loop, store->record(std::move(end))));
    store->release(root);
  }
  EXPECT_EQ(ended, kTrees);
}

// The second run may begin before anything of the first has been told.
TEST_F(SqliteStoreTest, ASessionThatEndsAndBeginsAgainAtOnceHasEachLineOnce) {
  SystemLoop loop;
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  auto store = *SqliteStore::open(loop, **folder, std::make_unique<ThreadWriter>());
  const Event root = creation();
  Session session;
  session.id = SessionId("sess_2_bbbbbb");
  session.uuid = Uuid("u");
  session.tree = root.tree;
  session.parent = root.tree;
  Event event = root;
  const auto record = [&](int number, std::vector<Fact> facts) {
    std::vector<Event> unit;
    event.run = {session.id, number};
    for (Fact& fact : facts) {
      event.fact = std::move(fact);
      unit.push_back(event);
    }
    EXPECT_TRUE(run(loop, store->record(std::move(unit))));
  };
  ASSERT_TRUE(store->claim(root.tree));
  ASSERT_TRUE(run(loop, store->record({root})));
  record(1, {SessionCreated{session}, RunStarted{}, InputGiven{Source::parent, "first"}});
  record(1, {NoteTaken{"noted"}, RunEnded{}});
  record(2, {RunStarted{}, InputGiven{Source::parent, "second"}});
  store.reset();
  const auto stem = home_.file("subagent/" + TranscriptFiles::stem_of(session));
  const std::string lines = bytes_of(stem + ".transcript.jsonl");
  for (const auto* text : {"first", "second"}) {
    ASSERT_TRUE(lines.contains(text)) << lines;
    EXPECT_EQ(lines.find(text), lines.rfind(text)) << lines;
  }
  EXPECT_EQ(bytes_of(stem + ".scratch.md"), "noted\n");
  EXPECT_FALSE(std::filesystem::exists(stem + ".transcript.json"));
}

// Says when something is posted to it: a commit that was made is, before its transcripts are written.
class TellingLoop final : public Loop {
 public:
  TellingLoop(Loop& loop, std::function<void()> posted) : loop_(loop), posted_(std::move(posted)) {}
  Executor executor() override { return loop_.executor(); }
  const Clock& clock() const override { return loop_.clock(); }
  Timers& timers() override { return loop_.timers(); }
  void post(std::move_only_function<void()> work) override {
    loop_.post(std::move(work));
    posted_();
  }

 private:
  Loop& loop_;
  std::function<void()> posted_;
};

TEST_F(SqliteStoreTest, ATreeThatIsClaimedAgainBeforeItsTranscriptIsWrittenHasEachLineOnce) {
  const Event created = creation();
  Event said = created;
  said.fact = InputGiven{Source::person, "do it"};
  std::unique_ptr<SqliteStore> store;
  bool is_claimed_again = false;
  TellingLoop loop(loop_, [&] {
    const auto kept = store->events_of_tree(created.tree);
    if (is_claimed_again || !kept || kept->empty()) return;
    is_claimed_again = true;
    store->release(created.tree);
    EXPECT_TRUE(store->claim(created.tree));
  });
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  store = *SqliteStore::open(loop, **folder, std::make_unique<InlineWriter>(loop_));
  ASSERT_TRUE(store->claim(created.tree));
  ASSERT_TRUE(run(loop_, store->record({created, said})));
  store.reset();
  ASSERT_TRUE(is_claimed_again);
  const Session session = std::get<SessionCreated>(created.fact).session;
  const auto file = home_.file("subagent/" + TranscriptFiles::stem_of(session) + ".transcript.jsonl");
  const std::string lines = bytes_of(file);
  ASSERT_TRUE(lines.contains("do it")) << lines;
  EXPECT_EQ(lines.find("do it"), lines.rfind("do it")) << lines;
}

}  // namespace
}  // namespace deputy
