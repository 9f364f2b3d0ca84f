// Pruning is stopped at any write, sync and truncation, by a failure or a power cut: each tree is there
// whole or gone, nothing is taken for lost, and what is left can be pruned again.
#include "store/sqlite/prune.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <filesystem>

#include "faulty_disk.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

// The first is not to be pruned; the last has the newest records.
const std::array<SessionId, 3> kTrees{SessionId("sess_1_kept00"), SessionId("sess_1_older0"),
                                      SessionId("sess_1_newest")};
constexpr std::size_t kEvents = 4;

class PruningStops : public testing::Test {
 protected:
  FaultyDisk disk_;
  SimLoop loop_{1};
  TempFolder filled_{TempFolder::Where::in_memory};  // what each try begins with

  PruningStops() {
    fill(**SystemDisk().open(filled_.path(), IfAbsent::fail));
    disk_.lose_memory();
  }
  std::unique_ptr<SqliteStore> open(const Folder& home) {
    auto store = SqliteStore::open(loop_, home, std::make_unique<InlineWriter>(loop_));
    EXPECT_TRUE(store) << to_text(store.error());
    return store ? *std::move(store) : nullptr;
  }
  void fill(const Folder& home) {
    const auto store = open(home);
    int at = 0;
    for (const auto& tree : kTrees) {
      Session session;
      session.id = session.tree = tree;
      session.uuid = Uuid(fmt::format("{0}{0}{0}{0}-1111-4111-8111-111111111111", 10 + at++));
      session.label = "one";
      ASSERT_TRUE(store->claim(tree));
      std::vector<Event> events(kEvents);
      const std::array facts{Fact(SessionCreated{session}), Fact(RunStarted{}),
                             Fact(InputGiven{Source::person, std::string(40'000, 'x')}), Fact(RunEnded{})};
      for (std::size_t i = 0; i < kEvents; ++i) {
        events[i].tree = tree;
        events[i].run = {tree, 1};
        events[i].fact = facts[i];
      }
      ASSERT_TRUE(run(loop_, store->record(events)));
    }
  }
  static Result<void> prune(const Folder& home) {
    TRY(auto pruning, Pruning::open(home));
    for (const auto& tree : {kTrees[1], kTrees[2]}) {
      const auto gone = pruning.remove(tree);
      if (!gone && gone.error().code != ErrorCode::not_found) return std::unexpected(gone.error());
      TRY(pruning.write_back());
    }
    return pruning.give_back_space();
  }
  // Returns how many of the two are still there.
  std::size_t expect_whole_or_gone(const Folder& home, const std::string& where) {
    const auto store = open(home);
    if (!store) return 0;
    EXPECT_FALSE(store->loss()) << where << ": " << to_text(store->loss().value_or(Error{}));
    std::size_t left = 0;
    for (const auto& tree : kTrees) {
      const auto session = store->session(tree);
      EXPECT_TRUE(session) << where;
      const auto events = store->events_of_tree(tree);
      EXPECT_TRUE(events) << where << ": " << (events ? "" : to_text(events.error()));
      if (!session || !events) continue;
      EXPECT_EQ(events->size(), *session ? kEvents : 0) << where << ": " << tree.value;
      if (tree == kTrees[0]) {
        EXPECT_TRUE(session->has_value()) << where;
      } else {
        left += session->has_value();
      }
    }
    return left;
  }
  int operations_of_a_prune() {
    const TempFolder home(TempFolder::Where::in_memory);
    const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
    fs::copy(filled_.path(), home.path(), fs::copy_options::recursive);
    disk_.heal();
    EXPECT_TRUE(prune(*folder));
    EXPECT_EQ(expect_whole_or_gone(*folder, "undisturbed"), 0u);
    return disk_.operations();
  }
  template <class Stop>
  void stopped_at(int n, int code, bool stays, const std::string& where, Stop stop) {
    const TempFolder home(TempFolder::Where::in_memory);
    const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
    fs::copy(filled_.path(), home.path(), fs::copy_options::recursive);
    disk_.fail_at(n, code, stays);
    (void)prune(*folder);
    if (code == SQLITE_IOERR && disk_.has_failed_to_sync_log())
      EXPECT_EQ(disk_.uses_of_log_since(), 0) << where << ": it was a sync of the log, which was used again";
    stop();
    disk_.heal();
    expect_whole_or_gone(*folder, where);
    const auto again = prune(*folder);
    EXPECT_TRUE(again) << where << ": " << (again ? "" : to_text(again.error()));
    EXPECT_EQ(expect_whole_or_gone(*folder, where + ", pruned again"), 0u) << where;
  }

  // Every `stride`-th operation.
  void fails_everywhere(int stride) {
    const int operations = operations_of_a_prune();
    ASSERT_GT(operations, 100) << "this proves nothing";
    int tried = 0;
    for (const int code : {SQLITE_FULL, SQLITE_IOERR}) {
      for (const bool stays : {false, true}) {
        for (int n = 1; n <= operations && !HasFailure(); n += stride, ++tried) {
          stopped_at(n, code, stays,
                     fmt::format("operation {} gives {}{}", n, code, stays ? " for good" : ""),
                     [this] { disk_.lose_memory(); });
        }
      }
    }
    fmt::print("figures: {} writes, syncs and truncations of a prune; {} failures, each tree whole or gone\n",
               operations, tried);
  }
  void power_cut_everywhere(int stride) {
    const int operations = operations_of_a_prune();
    std::mt19937_64 chance(1);
    for (int n = 1; n <= operations && !HasFailure(); n += stride) {
      stopped_at(n, SQLITE_IOERR, true, fmt::format("power cut at operation {}", n),
                 [&] { disk_.cut_power(chance); });
    }
  }
};

TEST_F(PruningStops, AFailureLeavesATreeWholeOrGone) { fails_everywhere(31); }

TEST_F(PruningStops, NothingIsWrittenToALogThatCouldNotBeSynced) {
  operations_of_a_prune();
  const auto syncs = disk_.log_syncs();
  ASSERT_FALSE(syncs.of_commits.empty());
  ASSERT_FALSE(syncs.others.empty());
  for (const auto& those : {syncs.of_commits, syncs.others}) {
    for (const int n : those)
      stopped_at(n, SQLITE_IOERR, false, fmt::format("sync {} fails", n), [this] { disk_.lose_memory(); });
  }
}

TEST_F(PruningStops, ATreeHasGoneThoughTheLogCannotBeWrittenBack) {
  const TempFolder home(TempFolder::Where::in_memory);
  const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
  fs::copy(filled_.path(), home.path(), fs::copy_options::recursive);
  disk_.heal();
  {
    auto pruning = Pruning::open(*folder);
    ASSERT_TRUE(pruning) << to_text(pruning.error());
    ASSERT_TRUE(pruning->remove(kTrees[1]));
    disk_.fail_at(1, SQLITE_IOERR, false);
    const auto written = pruning->write_back();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::io);
    ASSERT_TRUE(disk_.has_failed_to_sync_log());
  }
  EXPECT_EQ(disk_.uses_of_log_since(), 0);
  disk_.lose_memory();
  disk_.heal();
  EXPECT_EQ(expect_whole_or_gone(*folder, "not written back"), 1u);
}

TEST_F(PruningStops, APowerCutLeavesATreeWholeOrGone) { power_cut_everywhere(31); }

class PruningStopsExhaustive : public PruningStops {};

TEST_F(PruningStopsExhaustive, EveryWriteAndSyncMayFailAndATreeIsWholeOrGone) { fails_everywhere(1); }

TEST_F(PruningStopsExhaustive, APowerCutAnywhereLeavesATreeWholeOrGone) { power_cut_everywhere(1); }

}  // namespace
}  // namespace deputy
