// What 10,000 children leave behind in the process that ran them: nothing. Memory is what the allocator has
// given out and not got back: the size of the process would tell of the allocator's and the sanitizer's own
// stock as well.
#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>

#include "support/real_world.h"

#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace deputy {
namespace {

constexpr int kChildrenEach = 100;  // of a tree: what its root was told goes with it
constexpr int kTreesBefore = 10;    // until caches are full
constexpr int kTrees = 100;

struct Held {
  std::int64_t bytes = 0;
  std::ptrdiff_t descriptors = 0;

  static Held now() {
#if __has_feature(address_sanitizer)
    const auto bytes = __sanitizer_get_current_allocated_bytes();
#else
    const auto bytes = ::mallinfo2().uordblks;
#endif
    return {static_cast<std::int64_t>(bytes),
            std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})};
  }
};

// One child after the other: one in ten reads a file and notes something, and one in fifty runs a command.
Act one_after_another(const Scene& scene) {
  if (scene.depth == 0 && scene.step < kChildrenEach)
    return {
        .calls = {call_of("task", fmt::format(R"({{"agent":"general","prompt":"number {}"}})", scene.step))}};
  if (scene.depth == 0) return {.text = "over"};
  if (scene.step == 0 && scene.heard.contains("5\n"))
    return {.calls = {call_of("Read", R"({"file_path":"a.txt"})"), call_of("Note", R"({"content":"seen"})")}};
  if (scene.step == 1 && (scene.heard.contains("number 25\n") || scene.heard.contains("number 75\n")))
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

  RealWorld world{one_after_another, {.delegations = kUnlimited<int>}};
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
  fmt::print("figures: {} children: {:+} bytes of memory, {:+} descriptors\n", kTrees * kChildrenEach,
             after.bytes - before.bytes, after.descriptors - before.descriptors);
  EXPECT_LT(std::abs(after.bytes - before.bytes), std::int64_t{1} << 20);
  EXPECT_EQ(after.descriptors, before.descriptors);
}

}  // namespace
}  // namespace deputy
