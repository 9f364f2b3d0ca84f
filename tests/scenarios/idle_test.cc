// A run that waits, for a model or a person, wakes nobody; and yet another process is heard at once.
#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <utility>

#include "async/waiter.h"
#include "support/acting_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

// Of a bell that rings when the test pulls it.
struct Rope {
  Waiter<bool> waiting;
  bool has_rung = false;
  void pull() {
    has_rung = true;
    waiting.resume(true);
  }
};

class PulledBell final : public Bell {
 public:
  explicit PulledBell(std::shared_ptr<Rope> rope) : rope_(std::move(rope)) {}
  Task<> wait(StopToken stop) override {
    if (!rope_->has_rung) {
      const Waiter<bool> waiter;
      rope_->waiting = waiter;
      const auto on_stop = stop.on_stop([waiter] { waiter.resume(false); });
      co_await waiter.wait();
    }
    rope_->has_rung = false;
  }

 private:
  std::shared_ptr<Rope> rope_;
};

class Idle : public testing::Test {
 protected:
  Idle() { world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})"; }

  void TearDown() override {
    if (!life) return;
    life->runtime().cancel(StopReason::shutdown);
    life->loop().run_until_idle();
    EXPECT_TRUE(ended);
  }

  void begin(bool has_bell) {
    Life::Options options{.model = [](Loop& loop) {
      return std::make_unique<ActingModel>(
          loop, [](const Scene&) -> Act { return {.text = "said", .after = 20min}; });
    }};
    options.inbox_every = 80ms;
    if (has_bell) options.bell = [this] { return std::make_unique<PulledBell>(rope); };
    life.emplace(world, std::move(options));
    RootBrief root = life->brief("go");
    root.model = ModelName("acting/test");
    life->runtime().start(std::move(root), [this](Result<Report> report) { ended = std::move(report); });
    (void)pass(1s);
  }
  // How many pieces of work there were meanwhile, the end of that time among them.
  std::size_t pass(Duration time) {
    SimLoop& loop = life->loop();
    const TimePoint until = loop.clock().now() + time;
    bool is_over = false;
    loop.timers().call_at(until, [&is_over] { is_over = true; });
    return loop.run_until([&is_over] { return is_over; });
  }

  SimWorld world;
  std::shared_ptr<Rope> rope = std::make_shared<Rope>();
  std::optional<Life> life;
  std::optional<Result<Report>> ended;
};

TEST_F(Idle, OverAMinuteThereIsLessThanOneWakeUpASecond) {
  begin(true);
  EXPECT_LE(pass(60s), 60u);
  EXPECT_FALSE(ended);
}

TEST_F(Idle, WithoutABellTheInboxIsLookedIntoAllTheTime) {
  begin(false);
  EXPECT_GT(pass(60s), 700u);
}

TEST_F(Idle, ALetterIsActedOnWithin200MillisecondsOfTheBell) {
  begin(true);
  (void)pass(60s);
  const Session root = world.sessions().front();
  SimLoop other_loop(1);
  MemoryStore other(other_loop, world.memory);
  ASSERT_TRUE(other.post({.tree = root.id, .session = root.id, .kind = LetterKind::cancel, .text = ""}));
  const WallTime posted = life->loop().clock().wall();
  rope->pull();
  life->loop().run_until_idle();
  ASSERT_TRUE(ended);
  EXPECT_EQ(world.sessions().front().reason, Reason::cancelled_by_user);
  EXPECT_LE(*world.sessions().front().ended_at - posted, 200ms);
  EXPECT_TRUE(world.memory->inbox.empty());
}

TEST_F(Idle, ALetterThatNoBellRingsForIsFoundWithinSeconds) {
  begin(true);
  (void)pass(60s);
  const Session root = world.sessions().front();
  SimLoop other_loop(1);
  MemoryStore other(other_loop, world.memory);
  ASSERT_TRUE(other.post({.tree = root.id, .session = root.id, .kind = LetterKind::cancel, .text = ""}));
  const WallTime posted = life->loop().clock().wall();
  life->loop().run_until_idle();
  ASSERT_TRUE(ended);
  EXPECT_EQ(world.sessions().front().reason, Reason::cancelled_by_user);
  EXPECT_LE(*world.sessions().front().ended_at - posted, 5200ms);
}

TEST_F(Idle, ABellThatRangForNothingLeavesAllAsItWas) {
  begin(true);
  rope->pull();
  EXPECT_LE(pass(60s), 60u);
  EXPECT_FALSE(ended);
}

}  // namespace
}  // namespace deputy
