// What 10,000 children leave behind in the process that ran them: nothing; and what they leave in their tree
// while it lives: what their parent was told of them, and little beside.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "support/held.h"
#include "support/real_world.h"

namespace deputy {
namespace {

constexpr int kChildrenOfTen = 8;  // steps of the root; the others are about a child that is there
constexpr int kStepsEach = 120;    // of a tree: what its root was told goes with it
constexpr int kTreesBefore = 10;   // until caches are full
constexpr int kTrees = 105;
constexpr int kStepsOfOne = 1500;  // of the tree that is looked at while it lives
constexpr int kFirstLook = 300;

Call about_child(std::string name, std::string_view what, const std::string& id, std::string_view more) {
  return call_of(std::move(name), fmt::format(R"({{"{}":"{}",{}}})", what, id, more));
}
std::string last_of(const Scene& scene, std::string_view name) {
  return scene.value_of(name, scene.times_heard(name) - 1);
}

// One child after the other: one in ten beside its parent, who waits for it or cancels it, and one that asks.
// Of the others one in ten reads a file and notes something, and one in fifty runs a command.
Act one_after_another(const Scene& scene, int steps) {
  if (scene.depth == 0 && scene.step >= steps) return {.text = "over"};
  if (scene.depth == 0) {
    const bool is_cancelled = scene.step % 20 < 10;
    const auto number = fmt::format("number {}", scene.step);
    switch (scene.step % 10) {
      case 6:
        return {.calls = {call_of(
                    "task", fmt::format(R"({{"agent":"general","prompt":"{}{}\n","run_in_background":true}})",
                                        number, is_cancelled ? ", for long" : ""))}};
      case 7: {
        const std::string id = last_of(scene, "background.\nid: ");
        return {.calls = {is_cancelled ? call_of("task_cancel", fmt::format(R"({{"id":"{}"}})", id))
                                       : about_child("task_status", "id", id, R"("wait_seconds":600)")}};
      }
      case 8:
        return {.calls = {call_of("spawn_subagent",
                                  fmt::format(R"({{"agent":"general","task":"{}, asks"}})", number))}};
      case 9:
        return {.calls = {about_child("answer_subagent", "question_id", last_of(scene, "question_id: "),
                                      R"("answer":"red")")}};
      default:
        return {.calls = {call_of("task", fmt::format(R"({{"agent":"general","prompt":"{}"}})", number))}};
    }
  }
  if (scene.heard.contains("for long")) return {.text = "never", .after = std::chrono::hours(1)};
  if (scene.step == 0 && scene.heard.contains("asks"))
    return {.calls = {call_of("ask_parent", R"({"question":"Which?"})")}};
  if (scene.step == 0 && scene.heard.contains("5\n"))
    return {.calls = {call_of("Read", R"({"file_path":"a.txt"})"), call_of("Note", R"({"content":"seen"})")}};
  if (scene.step == 1 && (scene.heard.contains("25\n") || scene.heard.contains("75\n")))
    return {.calls = {call_of("Bash", R"({"command":"true"})")}};
  return {.text = "found"};
}

class LeaksExhaustive : public testing::Test {
 protected:
  LeaksExhaustive() { EXPECT_TRUE(world.workspace->replace("a.txt", "hello\n")); }

  void run_trees() {
    if (trees == kTreesBefore) before = Held::now();
    if (trees == kTreesBefore + kTrees) {
      after = Held::now();
      world.loop.stop();
      return;
    }
    trees += 1;
    world.runtime->start(world.brief(), [this](const Result<Report>& report) {
      completed += report && report->status == Status::completed ? 1 : 0;
      world.loop.post([this] { world.loop.post([this] { run_trees(); }); });  // when the tree is gone
    });
  }

  RealWorld world{[](const Scene& scene) { return one_after_another(scene, kStepsEach); },
                  {.delegations = kUnlimited<int>}};
  int trees = 0;
  int completed = 0;
  Held before;
  Held after;
};

TEST_F(LeaksExhaustive, TenThousandChildrenOneAfterAnotherLeaveMemoryWhereItWasAndNoDescriptorBehind) {
  world.loop.post([this] { run_trees(); });
  world.loop.run();
  ASSERT_EQ(completed, kTreesBefore + kTrees);
  ASSERT_GT(before.bytes, 0) << "nobody counts";
  fmt::print("figures: {} children: {:+} bytes of memory, {:+} descriptors\n",
             kTrees * kStepsEach * kChildrenOfTen / 10, after.bytes - before.bytes,
             after.descriptors - before.descriptors);
  EXPECT_LT(std::abs(after.bytes - before.bytes), std::int64_t{1} << 20);
  EXPECT_EQ(after.descriptors, before.descriptors);
}

// Looked at from a child, while its parent waits: then nothing of the parent's last request is held.
TEST(LeaksOfATreeExhaustive, AChildThatHasEndedLeavesInItsTreeLittleBesideWhatItsParentWasTold) {
  std::map<int, Held> held;
  std::map<int, std::size_t> told;
  const auto look = [&](const Scene& scene) {
    if (scene.depth == 0) told[scene.step] = scene.heard.size();
    for (const int step : {kFirstLook, kStepsOfOne - 10}) {
      if (scene.depth > 0 && scene.heard.contains(fmt::format("number {}\n", step))) held[step] = Held::now();
    }
    return one_after_another(scene, kStepsOfOne);
  };
  RealWorld world(look, {.delegations = kUnlimited<int>});
  ASSERT_TRUE(world.workspace->replace("a.txt", "hello\n"));
  std::optional<Status> status;
  world.runtime->start(world.brief(), [&](const Result<Report>& report) {
    if (report) status = report->status;
    world.loop.stop();
  });
  world.loop.run();
  ASSERT_EQ(status, Status::completed);
  ASSERT_EQ(held.size(), 2u);
  const auto& [first, before] = *held.begin();
  const auto& [last, after] = *held.rbegin();
  const int children = (last - first) * kChildrenOfTen / 10;
  const auto text = static_cast<std::int64_t>(told[last] - told[first]);
  const std::int64_t each = (after.bytes - before.bytes - text) / children;
  fmt::print(
      "figures: of each of {} children {} bytes are held beside {} that its parent was told, {:+} "
      "descriptors\n",
      children, each, text / children, after.descriptors - before.descriptors);
  EXPECT_LT(each, 4096);
  EXPECT_EQ(after.descriptors, before.descriptors);
}

}  // namespace
}  // namespace deputy
