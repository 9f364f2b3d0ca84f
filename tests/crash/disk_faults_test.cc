// A disk that fails: the n-th write or sync, for every n, once or for good; one that is full; one that loses
// what was not synced.
#include <sqlite3.h>

#include "disk_world.h"
#include "store/sqlite/spare_room.h"
#include "support/run.h"

namespace deputy {
namespace {

constexpr int kChildren = 2;

class DiskFaults : public testing::Test {
 protected:
  FaultyDisk disk_;
  int failed_log_syncs_ = 0;

  int operations_of_a_run() {
    disk_.heal();
    DiskWorld world(kChildren);
    {
      auto life = world.life(1);
      EXPECT_TRUE(life);
      const auto report = (*life)->start((*life)->brief("go"));
      world.tree.expect_whole((*life)->runtime().store(), report, "undisturbed");
    }
    return disk_.operations();
  }

  // Returns what the program said, where it noticed.
  std::optional<Error> run_on(DiskWorld& world, std::uint64_t seed, std::size_t& acknowledged) {
    auto life = world.life(seed);
    if (!life) return life.error();
    const auto report = (*life)->start((*life)->brief("go"));
    acknowledged = (*life)->acknowledged();
    return report ? std::nullopt : std::optional(report.error());
  }

  void fails(int n, int code, bool stays) {
    const std::string where = fmt::format("operation {} gives {}{}", n, code, stays ? " for good" : "");
    DiskWorld world(kChildren);
    disk_.fail_at(n, code, stays);
    std::size_t acknowledged = 0;
    const auto said = run_on(world, 1, acknowledged);
    ASSERT_TRUE(disk_.has_failed()) << where;
    // The next sync would say that all is well, though what this one was to bring to the disk is lost.
    if (code == SQLITE_IOERR && disk_.has_failed_to_sync_log()) {
      EXPECT_EQ(disk_.uses_of_log_since(), 0) << where << ": it was a sync of the log, which was used again";
      ++failed_log_syncs_;
    }
    disk_.lose_memory();
    disk_.heal();
    if (said) {
      EXPECT_TRUE(said->message.contains("deputy.db")) << where << ": " << said->message;
      EXPECT_FALSE(said->advice.empty()) << where;
    }
    world.expect_goes_on(acknowledged, 2, where);
  }

  // Every `stride`-th operation.
  void fails_everywhere(int stride) {
    const int operations = operations_of_a_run();
    ASSERT_GT(operations, 60) << "a run this short proves nothing";
    int tried = 0;
    for (const int code : {SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY}) {
      for (const bool stays : {false, true}) {
        for (int n = 1; n <= operations && !HasFailure(); n += stride, ++tried) fails(n, code, stays);
      }
    }
    fmt::print(
        "figures: {} writes, syncs and truncations in a run; {} failures, nothing acknowledged was lost\n",
        operations, tried);
    fmt::print("figures: {} of them I/O errors of a sync of the log, which was not used again\n",
               failed_log_syncs_);
    if (stride == 1) {
      EXPECT_EQ(tried, 3 * 2 * operations) << "one was passed over";
      EXPECT_GT(failed_log_syncs_, 0);
    }
  }

  void cut_power(int times) {
    const int operations = operations_of_a_run();
    std::mt19937_64 chance(1);
    for (int i = 0; i < times && !HasFailure(); ++i) {
      const int n = 1 + static_cast<int>(chance() % static_cast<std::uint64_t>(operations));
      const std::string where = fmt::format("power cut {} at operation {}", i, n);
      DiskWorld world(kChildren);
      disk_.fail_at(n, SQLITE_IOERR, true);
      std::size_t acknowledged = 0;
      (void)run_on(world, static_cast<std::uint64_t>(i) + 1, acknowledged);
      disk_.cut_power(chance);
      disk_.heal();
      world.expect_goes_on(acknowledged, static_cast<std::uint64_t>(i) + 1'000'000, where);
    }
    fmt::print("figures: {} power cuts; nothing acknowledged was lost\n", times);
  }
};

TEST_F(DiskFaults, StopTheRunAndLoseNothingThatWasAcknowledged) { fails_everywhere(101); }

// Of room that is made behind it too, when nobody waits who could be told.
TEST_F(DiskFaults, NothingIsWrittenToALogThatCouldNotBeSynced) {
  operations_of_a_run();
  const auto made_room = disk_.log_syncs().of_room;
  ASSERT_FALSE(made_room.empty());
  for (const int n : made_room) fails(n, SQLITE_IOERR, false);
  EXPECT_EQ(failed_log_syncs_, std::ssize(made_room));
}

// Letters and epochs are written by the loop, all else by the store's writer.
class FailedLetter : public testing::Test {
 protected:
  const SessionId tree_{"sess_1_letter"};
  FaultyDisk disk_;
  SimLoop loop_{1};
  TempFolder home_{TempFolder::Where::in_memory};

  std::unique_ptr<SqliteStore> claimed(const TempFolder& home) {
    const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
    auto store = SqliteStore::open(loop_, *folder, std::make_unique<InlineWriter>(loop_));
    EXPECT_TRUE(store) << to_text(store.error());
    if (!store) return nullptr;
    EXPECT_TRUE((*store)->claim(tree_));
    return *std::move(store);
  }
  Letter letter() const { return {.tree = tree_, .session = tree_, .text = "look again"}; }
  // Which operation of a post brings it to the disk.
  int sync_of_a_post() {
    const TempFolder elsewhere(TempFolder::Where::in_memory);
    const auto store = claimed(elsewhere);
    disk_.heal();
    EXPECT_TRUE(store->post(letter()));
    const auto syncs = disk_.log_syncs().of_commits;
    EXPECT_EQ(syncs.size(), 1u);
    return syncs.empty() ? 0 : syncs.front();
  }
};

TEST_F(FailedLetter, StopsAllThatIsWritten) {
  const int sync = sync_of_a_post();
  {
    const auto store = claimed(home_);
    ASSERT_TRUE(store);
    disk_.fail_at(sync, SQLITE_IOERR, false);
    const auto posted = store->post(letter());
    ASSERT_FALSE(posted);
    EXPECT_EQ(posted.error().code, ErrorCode::io);
    ASSERT_TRUE(disk_.has_failed_to_sync_log());
    Event event;
    event.tree = tree_;
    event.run = {tree_, 1};
    event.fact = RunStarted{};
    const auto recorded = run(loop_, store->record({event}));
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.error().code, ErrorCode::io);
    EXPECT_TRUE(recorded.error().message.contains("deputy.db")) << recorded.error().message;
    EXPECT_TRUE(recorded.error().advice.contains("deputy resume")) << recorded.error().advice;
    EXPECT_FALSE(store->post(letter()));
    EXPECT_FALSE(store->discard(1));
    EXPECT_FALSE(store->claim(SessionId("sess_1_other0")));
  }
  EXPECT_EQ(disk_.uses_of_log_since(), 0) << "the next sync would say that all is well";
}

// As a quota or a limit on the length of files has it, which SQLite calls an I/O error too.
TEST_F(DiskFaults, ARunGoesOnWhereRoomBehindTheLogCannotBeWritten) {
  operations_of_a_run();
  const auto made_room = disk_.log_syncs().of_room;
  ASSERT_FALSE(made_room.empty());
  for (const int n : made_room) {
    DiskWorld world(kChildren);
    disk_.fail_at(n - 1, SQLITE_IOERR, false);  // the last write before that sync
    std::size_t acknowledged = 0;
    const auto said = run_on(world, 1, acknowledged);
    EXPECT_TRUE(disk_.has_failed()) << n;
    EXPECT_FALSE(said) << n << ": " << to_text(said.value_or(Error{}));
    disk_.lose_memory();
    disk_.heal();
  }
}

TEST_F(DiskFaults, RoomThatCannotBeSyncedForWantOfSpaceIsAFullDisk) {
  operations_of_a_run();
  const auto made_room = disk_.log_syncs().of_room;
  ASSERT_FALSE(made_room.empty());
  DiskWorld world(kChildren);
  disk_.fail_at(made_room.front(), SQLITE_FULL, false);
  std::size_t acknowledged = 0;
  const auto said = run_on(world, 1, acknowledged);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->code, ErrorCode::exhausted) << to_text(*said);
  EXPECT_FALSE(std::filesystem::exists(world.home.file("spare-room"))) << "given back";
  disk_.lose_memory();
  disk_.heal();
  {
    auto life = world.life(2);
    ASSERT_TRUE(life) << to_text(life.error());
    const auto roots = (*life)->runtime().store().sessions({.roots_only = true});
    ASSERT_TRUE(roots);
    ASSERT_EQ(roots->size(), 1u);
    EXPECT_EQ(roots->front().state, SessionState::interrupted);
  }
  world.expect_goes_on(acknowledged, 3, "after room that was not synced");
}

TEST_F(DiskFaults, APowerCutLosesNothingThatWasAcknowledged) { cut_power(10); }

TEST_F(DiskFaults, AFullDiskStillTakesTheRecordOfTheStop) {
  DiskWorld world(kChildren);
  disk_.set_room(kSpareRoomBytes + 150'000, {world.home.file("spare-room")});
  std::size_t acknowledged = 0;
  const auto said = run_on(world, 1, acknowledged);
  ASSERT_TRUE(said) << "there was room enough";
  EXPECT_EQ(said->code, ErrorCode::exhausted);
  EXPECT_TRUE(said->advice.contains("free some disk space")) << said->advice;
  EXPECT_FALSE(std::filesystem::exists(world.home.file("spare-room"))) << "given back";
  disk_.heal();
  {
    auto life = world.life(2);
    ASSERT_TRUE(life);
    const Store& store = (*life)->runtime().store();
    const auto root = store.sessions({.roots_only = true})->front();
    EXPECT_EQ(root.state, SessionState::interrupted);
    const auto events = *store.events_of_tree(root.id);
    EXPECT_GT(events.size(), acknowledged);
    const auto* stop = std::get_if<StateChanged>(&events.back().fact);
    ASSERT_TRUE(stop);
    EXPECT_TRUE(stop->why.contains("full")) << stop->why;
  }
  world.expect_goes_on(acknowledged, 3, "after a full disk");
  EXPECT_TRUE(std::filesystem::exists(world.home.file("spare-room"))) << "kept anew";
}

class DiskFaultsExhaustive : public DiskFaults {};

TEST_F(DiskFaultsExhaustive, EveryWriteAndSyncMayFail) { fails_everywhere(1); }

TEST_F(DiskFaultsExhaustive, AThousandPowerCutsLoseNothingThatWasAcknowledged) { cut_power(1000); }

}  // namespace
}  // namespace deputy
