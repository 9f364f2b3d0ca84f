// Commits that are asked for while the writer makes one: it makes them too, and only then writes transcripts.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>

#include "async/task_group.h"
#include "faulty_disk.h"
#include "store/sqlite/leftovers.h"
#include "store/sqlite/sqlite_store.h"
#include "store/transcript_files.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Task<> keep(Task<Result<void>> recording, Result<void>* result) { *result = co_await std::move(recording); }

class GatheredCommits : public testing::Test {
 protected:
  GatheredCommits() {
    root_.id = root_.tree = SessionId("sess_1_aaaaaa");
    root_.uuid = Uuid("00000000-0000-4000-8000-00000000aaaa");
    child_.id = SessionId("sess_1_bbbbbb");
    child_.parent = child_.tree = root_.id;
    child_.uuid = Uuid("00000000-0000-4000-8000-00000000bbbb");
  }
  std::unique_ptr<SqliteStore> claimed() {
    const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
    auto store = *SqliteStore::open(loop_, *folder, std::make_unique<ThreadWriter>());
    EXPECT_TRUE(store->claim(root_.id));
    return store;
  }
  static std::vector<Event> events_of(const Session& session, const std::vector<Fact>& facts) {
    std::vector<Event> events;
    for (const Fact& fact : facts) {
      Event event;
      event.tree = session.tree;
      event.run = {session.id, 1};
      event.fact = fact;
      events.push_back(std::move(event));
    }
    return events;
  }
  static std::vector<Event> beginning_of(const Session& session) {
    return events_of(session, {SessionCreated{session}, RunStarted{}, InputGiven{Source::person, "do it"}});
  }
  // For the writer, while it stands in a commit: the loop goes on, and has asked for the next one when this
  // returns. Who records is resumed, and the writer woken, each in a turn of its own.
  void record_meanwhile(TaskGroup& group, SqliteStore& store, std::vector<Event> events,
                        Result<void>* result) {
    const auto is_asked = std::make_shared<std::latch>(1);
    loop_.post([&, is_asked] {
      group.spawn(keep(store.record(std::move(events)), result));
      loop_.post([this, is_asked] { loop_.post([is_asked] { is_asked->count_down(); }); });
    });
    is_asked->wait();
  }
  static std::string file_of(const Session& session, std::string_view ending) {
    return "subagent/" + TranscriptFiles::stem_of(session) + ".transcript" + std::string(ending);
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  FaultyDisk disk_;
  SystemLoop loop_;
  TempFolder home_{TempFolder::Where::in_memory};
  Session root_;
  Session child_;
};

TEST_F(GatheredCommits, OneThatFailsTakesNothingOfThoseBeforeItAlong) {
  const auto transcript = home_.file(file_of(root_, ".jsonl"));
  {
    const auto store = claimed();
    TaskGroup group(loop_);
    Result<void> second;
    bool came_first = false;
    disk_.in_next_log_sync([&] {
      record_meanwhile(group, *store, events_of(root_, {NoteTaken{"lost"}}), &second);
      disk_.in_next_log_sync([&] {
        came_first = !fs::exists(transcript);
        disk_.fail_at(1, SQLITE_IOERR, false);
      });
    });
    EXPECT_TRUE(run(loop_, store->record(beginning_of(root_))));
    run(loop_, group.join());
    EXPECT_TRUE(came_first) << "the writer was asked, and wrote transcripts first";
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::io);
    EXPECT_FALSE(run(loop_, store->record(events_of(root_, {NoteTaken{"later"}}))));
    EXPECT_FALSE(fs::exists(transcript)) << "a disk that failed is not written to";
    EXPECT_EQ(disk_.uses_of_log_since(), 0);
  }
  disk_.lose_memory();
  disk_.heal();
  const auto store = claimed();
  EXPECT_EQ(store->loss(), std::nullopt);
  ASSERT_TRUE(run(loop_, store->record(events_of(root_, {NoteTaken{"again"}, RunEnded{}}))));
  const std::string told = text_of(home_.file(file_of(root_, ".json")));
  EXPECT_THAT(told, HasSubstr("do it"));
  EXPECT_EQ(told.find("do it"), told.rfind("do it"));
  const auto events = store->events_of_tree(root_.id);
  ASSERT_TRUE(events) << to_text(events.error());
  ASSERT_EQ(events->size(), 5u);
  EXPECT_EQ(std::get<NoteTaken>((*events)[3].fact).content, "again");
}

TEST_F(GatheredCommits, NoTranscriptIsWrittenWhereRoomBehindThemCouldNotBeSynced) {
  const auto transcript = home_.file(file_of(root_, ".jsonl"));
  {
    const auto store = claimed();
    disk_.in_next_log_sync(
        [this] { disk_.in_next_log_sync([this] { disk_.fail_at(1, SQLITE_IOERR, false); }); });
    EXPECT_TRUE(run(loop_, store->record(beginning_of(root_)))) << "it was durable before";
  }
  EXPECT_TRUE(disk_.has_failed_to_sync_log());
  EXPECT_FALSE(fs::exists(transcript)) << "a disk that failed is not written to";
  EXPECT_EQ(disk_.uses_of_log_since(), 0);
  disk_.lose_memory();
  disk_.heal();
  claimed().reset();
  EXPECT_THAT(text_of(transcript), HasSubstr("do it"));
}

TEST_F(GatheredCommits, WhatAKillLeavesBehindTheEndOfATreeIsSealedAtTheNextStart) {
  const TempFolder killed(TempFolder::Where::in_memory);
  {
    const auto store = claimed();
    TaskGroup group(loop_);
    Result<void> of_child;
    Result<void> of_end;
    bool came_first = false;
    disk_.in_next_log_sync([&] {
      auto whole_life = beginning_of(child_);
      whole_life.push_back(events_of(child_, {RunEnded{}}).front());
      record_meanwhile(group, *store, std::move(whole_life), &of_child);
      disk_.in_next_log_sync([&] {
        came_first = !fs::exists(home_.file(file_of(root_, ".jsonl")));
        record_meanwhile(group, *store, events_of(root_, {RunEnded{}}), &of_end);
        // All of the commit is in the log by then.
        disk_.in_next_log_sync([&] { fs::copy(home_.path(), killed.path(), fs::copy_options::recursive); });
      });
    });
    ASSERT_TRUE(run(loop_, store->record(beginning_of(root_))));
    run(loop_, group.join());
    EXPECT_TRUE(of_child && of_end);
    EXPECT_TRUE(came_first) << "the writer was asked, and wrote transcripts first";
  }
  fs::remove(killed.file("deputy.db-shm"));
  const auto folder = *SystemDisk().open(killed.path(), IfAbsent::fail);
  const auto store = *SqliteStore::open(loop_, *folder, std::make_unique<ThreadWriter>());
  ASSERT_EQ((*store->session(root_.id))->state, SessionState::completed) << "it was killed too early";
  const auto unsealed = unsealed_transcripts(*folder, loop_.clock().wall());
  ASSERT_TRUE(unsealed);
  for (const Leftover& left : *unsealed) EXPECT_TRUE(seal_leftover(*folder, left));
  for (const Session& session : {root_, child_}) {
    EXPECT_THAT(text_of(killed.file(file_of(session, ".json"))), HasSubstr("do it")) << session.uuid.value;
    EXPECT_FALSE(fs::exists(killed.file(file_of(session, ".jsonl")))) << session.uuid.value;
  }
}

}  // namespace
}  // namespace deputy
