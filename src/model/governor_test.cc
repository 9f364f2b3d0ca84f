#include "model/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr Duration kPatient = std::chrono::minutes{15};

class Line : public testing::Test {
 protected:
  // Shuts the gate, so that those who come now stand in line.
  void shut(Duration duration) {
    auto turn = run(loop_, governor_.enter({}, kPatient, {}));
    turn->rejected(duration);
  }

  void come(std::string name, Governor::Rank rank, StopToken stop = {}) {
    group_.spawn(take_a_turn(this, std::move(name), rank, std::move(stop)));
    loop_.run_until([&, before = governor_.waiting()] { return governor_.waiting() != before; });
  }

  static Task<> take_a_turn(Line* line, std::string name, Governor::Rank rank, StopToken stop) {
    auto turn = co_await line->governor_.enter(rank, kPatient, std::move(stop));
    line->order_.push_back(turn ? name : name + " stopped");
    if (turn) turn->accepted({});
  }

  static Task<> stop_later(Loop& loop, Duration after, const StopSource* source) {
    co_await sleep_for(loop, after, {});
    source->request(StopReason::user);
  }

  SimLoop loop_{3};
  Governor governor_{loop_};
  std::vector<std::string> order_;
  TaskGroup group_{loop_};
};

TEST_F(Line, LetsParentsGoBeforeChildrenAndWhatHasComeFarBeforeWhatBegins) {
  shut(seconds{1});
  come("new child", {.depth = 1, .messages = 1});
  come("old child", {.depth = 1, .messages = 9});
  come("grandchild", {.depth = 2, .messages = 20});
  come("parent", {.depth = 0, .messages = 1});
  come("second new child", {.depth = 1, .messages = 1});
  run(loop_, group_.join());
  EXPECT_THAT(order_, ElementsAre("parent", "old child", "new child", "second new child", "grandchild"));
  EXPECT_GE(loop_.clock().now().time_since_epoch(), seconds{1});
}

TEST_F(Line, KeepsWhoWaitsNoLongerThanItHasPatienceAndSendsAwayWhoWould) {
  shut(kPatient);
  come("waits", {});
  run(loop_, group_.join());
  EXPECT_THAT(order_, ElementsAre("waits"));

  shut(seconds{1});
  come("in line", {});
  auto turn = run(loop_, governor_.enter({}, kPatient, {}));  // the one that goes alone, "in line" behind it
  ASSERT_TRUE(turn);
  turn->rejected(kPatient + seconds{1});
  come("comes later", {});
  run(loop_, group_.join());
  EXPECT_THAT(order_, testing::Contains("comes later stopped"));
  EXPECT_FALSE(run(loop_, governor_.enter({}, kPatient, {})));
}

TEST_F(Line, LetsThoseGoFirstWhoHaveWaitedLong) {
  shut(seconds{90});
  come("grandchild", {.depth = 2});
  run(loop_, sleep_for(loop_, seconds{80}, {}));
  come("parent", {.since = loop_.clock().now()});
  run(loop_, group_.join());
  EXPECT_THAT(order_, ElementsAre("grandchild", "parent"));
}

TEST_F(Line, LetsThoseGoBehindWhoWereRejected) {
  shut(seconds{1});
  come("parent that was rejected", {.rejections = 1});
  come("child", {.depth = 1});
  come("parent that was rejected twice", {.rejections = 2});
  run(loop_, group_.join());
  EXPECT_THAT(order_, ElementsAre("child", "parent that was rejected", "parent that was rejected twice"));
}

TEST_F(Line, ForgetsWhoIsStopped) {
  shut(seconds{60});
  const StopSource source;
  come("impatient", {}, source.token());
  come("patient", {.depth = 1});
  group_.spawn(stop_later(loop_, seconds{5}, &source));
  loop_.run_until([&] { return !order_.empty(); });
  EXPECT_THAT(order_, ElementsAre("impatient stopped"));
  EXPECT_EQ(loop_.clock().now().time_since_epoch(), seconds{5});
  EXPECT_EQ(governor_.waiting(), 1u);
  run(loop_, group_.join());
  EXPECT_THAT(order_, ElementsAre("impatient stopped", "patient"));
}

TEST_F(Line, DoesNotLetInWhoIsStoppedAlready) {
  const StopSource source;
  source.request(StopReason::user);
  EXPECT_FALSE(run(loop_, governor_.enter({}, kPatient, source.token())));
}

TEST_F(Line, MovesOnWhenATurnEndsUntold) {
  shut(seconds{1});
  {
    const auto alone = run(loop_, governor_.enter({}, kPatient, {}));
  }
  const TimePoint before = loop_.clock().now();
  EXPECT_TRUE(run(loop_, governor_.enter({}, kPatient, {})));
  EXPECT_LE(loop_.clock().now() - before, milliseconds{1100});
}

TEST_F(Line, SaysHowLongTheGateIsShut) {
  EXPECT_EQ(governor_.shut_for(), Duration{});
  shut(seconds{30});
  EXPECT_EQ(governor_.shut_for(), seconds{30});
}

TEST(Governors, AreOneForEachAccountAndModel) {
  SimLoop loop(1);
  Governors governors(loop);
  EXPECT_EQ(&governors.of("a", "x"), &governors.of("a", "x"));
  EXPECT_NE(&governors.of("a", "x"), &governors.of("a", "y"));
  EXPECT_NE(&governors.of("a", "x"), &governors.of("b", "x"));
}

}  // namespace
}  // namespace deputy
