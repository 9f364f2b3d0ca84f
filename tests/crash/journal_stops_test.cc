// The journal stops after every n-th record of a tree of eight, for every n, and the tree is resumed.
#include "eight_children.h"

namespace deputy {
namespace {

struct Found {
  int points = 0;
  int unknown = 0;
};

std::size_t undisturbed_calls(int children) {
  EightChildren tree(children);
  const auto life = tree.life({});
  const auto report = life->start(life->brief("go"));
  tree.expect_whole(life->runtime().store(), report, "undisturbed");
  return tree.world.model_calls.size();
}

// Whether there was a record to stop at.
bool stops_and_resumes(int children, std::uint64_t seed, CrashPoint crash, std::size_t calls, Found& found) {
  const std::string where =
      fmt::format("seed {}, record {} {}", seed, crash.at_record, crash.committed ? "kept" : "lost");
  EightChildren tree(children);
  {
    const auto life = tree.life({.seed = seed, .crash = crash});
    const auto report = life->start(life->brief("go"));
    if (!life->crashed()) return false;
    EXPECT_FALSE(report) << where;
  }
  ++found.points;
  const auto sessions = tree.world.sessions();
  if (sessions.empty()) return true;
  const auto live = static_cast<std::size_t>(
      std::ranges::count_if(sessions, [](const Session& each) { return !is_terminal(each.state); }));
  const auto life = tree.life({.seed = seed + 1'000'000});
  const auto report = life->resume(sessions.front().id);
  found.unknown += tree.expect_whole(life->runtime().store(), report, where);
  EXPECT_LE(tree.world.model_calls.size(), calls + live) << where;
  return true;
}

void stops_everywhere(int children, std::uint64_t seeds) {
  const std::size_t calls = undisturbed_calls(children);
  Found found;
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    for (const bool committed : {true, false}) {
      int record = 1;
      while (!testing::Test::HasFailure() &&
             stops_and_resumes(children, seed, {record, committed}, calls, found))
        ++record;
      ASSERT_GT(record, 6 * children) << "a run this short proves nothing";
    }
  }
  fmt::print("figures: {} stops; every effect was made at most once, {} outcomes were reported unknown\n",
             found.points, found.unknown);
}

TEST(JournalStops, AreResumedAfterEveryRecordOfATreeOfTwo) { stops_everywhere(2, 1); }

TEST(JournalStopsLong, AreResumedAfterEveryRecordOfATreeOfEight) { stops_everywhere(8, 5); }

}  // namespace
}  // namespace deputy
