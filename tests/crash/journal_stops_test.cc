// The journal stops after every n-th record of a tree of eight, for every n, and the tree is resumed.
#include "base/json.h"
#include "eight_children.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

struct Found {
  int points = 0;
  int unknown = 0;
};

using Calls = std::map<std::string, int>;  // of the model, by session

Calls calls_of(const SimWorld& world) {
  Calls calls;
  for (const auto& line : world.model_calls) calls[string_or(*parse_json_object(line), "label", "")] += 1;
  return calls;
}

// Where the trees are kept: in memory, or on the real store in a folder of its own.
enum class Kept { in_memory, on_disk };

struct Stopped {
  explicit Stopped(int children) : tree(children) {}
  EightChildren tree;
  TempFolder home{TempFolder::Where::in_memory};

  std::unique_ptr<Life> life(Kept kept, Life::Options options) {
    if (kept == Kept::on_disk) {
      options.store = [this](Loop& loop) -> std::unique_ptr<Store> {
        auto folder = SystemDisk().open(home.path(), IfAbsent::fail);
        return *SqliteStore::open(loop, **folder, std::make_unique<InlineWriter>(loop));
      };
    }
    return tree.life(std::move(options));
  }
};

Calls undisturbed_calls(int children) {
  EightChildren tree(children);
  const auto life = tree.life({});
  const auto report = life->start(life->brief("go"));
  tree.expect_whole(life->runtime().store(), report, "undisturbed");
  return calls_of(tree.world);
}

// Whether there was a record to stop at.
bool stops_and_resumes(Kept kept, int children, std::uint64_t seed, CrashPoint crash, const Calls& calls,
                       Found& found) {
  const std::string where = fmt::format("seed {}, record {} {}, commands {}", seed, crash.at_record,
                                        crash.committed ? "kept" : "lost",
                                        crash.ends_commands ? "end with it" : "come to their end");
  Stopped stopped(children);
  {
    const auto life = stopped.life(kept, {.seed = seed, .crash = crash});
    const auto report = life->start(life->brief("go"));
    if (!life->crashed()) return false;
    EXPECT_FALSE(report) << where;
  }
  ++found.points;
  const auto life = stopped.life(kept, {.seed = seed + 1'000'000});
  const Store& store = life->runtime().store();
  const auto sessions = *store.sessions({.most = 1000});
  if (sessions.empty()) return true;
  std::set<std::string> live;
  for (const Session& each : sessions)
    if (!is_terminal(each.state)) live.insert(each.label);
  const auto report = life->resume(sessions.front().tree);
  found.unknown += stopped.tree.expect_whole(store, report, where);
  for (const auto& [label, made] : calls_of(stopped.tree.world)) {
    const int most = calls.at(label) + (live.contains(label) ? 1 : 0);
    EXPECT_LE(made, most) << where << ": " << label << " asked its model too often";
  }
  return true;
}

// Of a record that is kept or lost, and of commands that end with the process or come to their end, a small
// tree is tried with each together.
std::vector<CrashPoint> ways_to_stop(int children) {
  std::vector<CrashPoint> ways{{.committed = true, .ends_commands = true},
                               {.committed = false, .ends_commands = false}};
  if (children <= 2) {
    ways.push_back({.committed = true, .ends_commands = false});
    ways.push_back({.committed = false, .ends_commands = true});
  }
  return ways;
}

void stops_everywhere(Kept kept, int children, std::uint64_t seeds) {
  const Calls calls = undisturbed_calls(children);
  Found found;
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    for (CrashPoint crash : ways_to_stop(children)) {
      crash.at_record = 1;
      while (!testing::Test::HasFailure() && stops_and_resumes(kept, children, seed, crash, calls, found))
        ++crash.at_record;
      ASSERT_GT(crash.at_record, 6 * children) << "a run this short proves nothing";
    }
  }
  fmt::print(
      "figures: {} stops {}; every effect was made once, or not and that was told; {} outcomes were reported "
      "unknown\n",
      found.points, kept == Kept::on_disk ? "on the real store" : "in memory", found.unknown);
  if (seeds > 1) EXPECT_GT(found.unknown, 0) << "no command was ended in its middle";
}

TEST(JournalStops, AreResumedAfterEveryRecordOfATreeOfTwo) { stops_everywhere(Kept::in_memory, 2, 1); }

TEST(JournalStops, AreResumedAfterEveryRecordOfATreeOfTwoOnDisk) { stops_everywhere(Kept::on_disk, 2, 1); }

TEST(JournalStopsLong, AreResumedAfterEveryRecordOfATreeOfEight) { stops_everywhere(Kept::in_memory, 8, 5); }

TEST(JournalStopsLong, AreResumedAfterEveryRecordOfATreeOfEightOnDisk) {
  stops_everywhere(Kept::on_disk, 8, 1);
}

}  // namespace
}  // namespace deputy
