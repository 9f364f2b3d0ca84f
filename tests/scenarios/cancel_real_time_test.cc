// Trees whose sessions have processes of their own, which do what they can to be left alone, are cancelled:
// one of 64 children, and one that is deep.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/real_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

constexpr int kChildren = 64;
constexpr int kProcessesEach = 4;

// A length of sleep that no other process has.
std::string mark() { return fmt::format("1000.{:07}", ::getpid()); }

// One that the command waits for, one beside it, one in a session of its own, and one whose parent is gone.
std::string command() {
  return fmt::format("sleep {0} & setsid sleep {0} & (setsid sleep {0} & ) ; exec sleep {0}", mark());
}

int processes_alive() {
  int alive = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string line;
    std::getline(file, line);  // nothing of one that has just ended
    if (line.starts_with("sleep") && line.contains(mark())) alive += 1;
  }
  return alive;
}

Act everybody_sleeps(const Scene& scene) {
  if (scene.depth > 0 && scene.step == 0)
    return {.calls = {call_of("Bash", to_json_text(json::object{{"command", command()}}))}};
  if (scene.step > 0) return {.text = "never"};
  Act act;
  for (int i = 0; i < kChildren; ++i)
    act.calls.push_back(call_of("task", R"({"agent":"general","prompt":"sleep"})"));
  return act;
}

// A chain of sessions, each with a command beside it that hears no TERM.
constexpr int kLevels = 7;

Act a_chain(const Scene& scene) {
  if (scene.step > 0) return {.text = "never", .after = 1h};
  const std::string command = fmt::format("trap '' TERM; while :; do sleep {}; done", mark());
  Act act{.calls = {call_of("Bash",
                            to_json_text(json::object{{"command", command}, {"run_in_background", true}}))}};
  if (scene.depth + 1 < kLevels)
    act.calls.push_back(call_of("task", R"({"agent":"link","prompt":"sleep","timeout":"none"})"));
  return act;
}

class CancelRealTime : public testing::Test {
 protected:
  CancelRealTime(ActingModel::Play play, const TreeLimits& limits, int processes,
                 std::vector<Profile> profiles = {})
      : expected(processes), world(std::move(play), limits, std::move(profiles)) {}

  // Until the tree has ended and none of its processes is alive.
  void run() {
    world.runtime->start(world.brief(), [this](Result<Report> report) {
      ended = std::move(report);
      ended_at = clock().now();
      if (++over == 2) world.loop.stop();
    });
    began = clock().now();
    world.loop.post([this] { when_all_sleep(); });
    world.loop.run();
    EXPECT_EQ(most, expected) << "else it proves less";
    ASSERT_TRUE(gone) << processes_alive() << " were alive after ten seconds";
    fmt::print("figures: {} processes were gone after {:.2f} s, the tree after {:.2f} s\n", most,
               seconds(*gone), seconds(ended_at));
    EXPECT_LT(*gone - cancelled, 2s);
    ASSERT_TRUE(ended && *ended);
    EXPECT_EQ((*ended)->reason, Reason::cancelled_by_user);
  }
  void expect_one_end_each(std::size_t sessions) const {
    const Store& store = world.runtime->store();
    const auto all = store.sessions({});
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), sessions);
    for (const Session& session : *all) {
      EXPECT_EQ(session.state, SessionState::cancelled) << session.label;
      const auto events = store.events_of_session(session.id);
      ASSERT_TRUE(events);
      EXPECT_EQ(std::ranges::count_if(
                    *events, [](const Event& event) { return std::holds_alternative<RunEnded>(event.fact); }),
                1)
          << session.label;
    }
  }

 private:
  void when_all_sleep() {
    most = std::max(most, processes_alive());
    if (most < expected && clock().now() - began < 120s) {
      world.loop.timers().call_at(clock().now() + 50ms, [this] { when_all_sleep(); });
      return;
    }
    cancelled = clock().now();
    world.runtime->cancel(StopReason::user);
    world.loop.post([this] { world.runtime->cancel(StopReason::user); });  // twice is harmless
    until_none();
  }
  void until_none() {
    if (processes_alive() == 0) {
      gone = clock().now();
    } else if (clock().now() - cancelled < 10s) {
      world.loop.timers().call_at(clock().now() + 20ms, [this] { until_none(); });
      return;
    }
    if (const auto both = ++over; both == 2) world.loop.stop();
  }
  const Clock& clock() const { return world.loop.clock(); }
  double seconds(TimePoint at) const { return std::chrono::duration<double>(at - cancelled).count(); }

  int expected;
  RealWorld world;
  TimePoint began{};
  TimePoint cancelled{};
  TimePoint ended_at{};
  std::optional<TimePoint> gone;
  std::optional<Result<Report>> ended;
  int most = 0;
  int over = 0;  // the tree, and the processes
};

class CancelOfManyRealTime : public CancelRealTime {
 protected:
  CancelOfManyRealTime()
      : CancelRealTime(everybody_sleeps, {.live_children = kChildren, .live_sessions = kChildren + 1},
                       kChildren * kProcessesEach) {}
};

TEST_F(CancelOfManyRealTime, SixtyFourChildrenWithProcessesLeavesNothingAliveAfterTwoSeconds) {
  run();
  expect_one_end_each(kChildren + 1);
}

class CancelOfAChainRealTime : public CancelRealTime {
 protected:
  CancelOfAChainRealTime()
      : CancelRealTime(a_chain, {.depth = kLevels}, kLevels,
                       {{.name = "link",
                         .tools = {"Bash"},
                         .subagents = {"link"},
                         .workspace = WorkspaceMode::shared,
                         .reentrant = true}}) {}
};

TEST_F(CancelOfAChainRealTime, WithACommandBesideEachLeavesNothingAliveAfterTwoSeconds) {
  run();
  expect_one_end_each(kLevels);
}

}  // namespace
}  // namespace deputy
