#include "delegation/deadlines.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"

namespace deputy {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kMoment = std::chrono::milliseconds(1);
constexpr int kDay = static_cast<int>(std::chrono::duration_cast<minutes>(kLongestSilence).count());

TEST(MovedDeadline, KeepsWhatHasPassedUnderAnotherLimit) {
  const WallTime left_at{std::chrono::hours(1)};
  const WallTime deadline = left_at + minutes(2);  // eight of ten have passed
  EXPECT_EQ(moved_deadline(deadline, minutes(10), minutes(10), left_at), deadline);
  EXPECT_EQ(moved_deadline(deadline, minutes(10), minutes(30), left_at), left_at + minutes(22));
  EXPECT_EQ(moved_deadline(deadline, minutes(10), minutes(8), left_at), left_at) << "nothing is left";
  EXPECT_EQ(moved_deadline(deadline, minutes(10), Duration::max(), left_at), std::nullopt);
  EXPECT_EQ(moved_deadline({}, Duration::max(), minutes(5), left_at), left_at + minutes(5));
}

TEST(TimeWithMore, LeavesSoMuchWhateverHasPassed) {
  const WallTime left_at{std::chrono::hours(1)};
  const WallTime deadline = left_at + minutes(2);  // eight of ten have passed
  for (const int more : {1, 2, 8, 10, 30}) {
    const Duration time = time_with_more(deadline, minutes(10), minutes(more), left_at);
    EXPECT_EQ(time, minutes(8 + more));
    EXPECT_EQ(moved_deadline(deadline, minutes(10), time, left_at), left_at + minutes(more));
  }
  const WallTime passed = left_at - minutes(1);
  EXPECT_EQ(time_with_more(passed, minutes(10), minutes(5), left_at), minutes(16)) << "one too many";
  EXPECT_EQ(time_with_more(deadline, minutes(10), Duration::max(), left_at), Duration::max());
  EXPECT_EQ(time_with_more({}, Duration::max(), minutes(5), left_at), minutes(5));
}

class DeadlinesTest : public testing::Test {
 protected:
  Session session(const std::string& id, const std::string& parent, int in_minutes) {
    Session made;
    made.id = SessionId(id);
    if (!parent.empty()) made.parent = SessionId(parent);
    if (in_minutes > 0) made.deadline = loop_.clock().wall() + minutes(in_minutes);
    return made;
  }
  // And a moment more: what is due with it comes in any order.
  void pass(int in_minutes) {
    bool passed = false;
    loop_.timers().call_at(loop_.clock().now() + minutes(in_minutes) + kMoment, [&passed] { passed = true; });
    loop_.run_until([&passed] { return passed; });
  }

  SimLoop loop_{1};
  std::vector<SessionId> stalled_;
  Deadlines deadlines_{loop_, [this](const SessionId& id) { stalled_.push_back(id); }};
  StopSource root_;
  StopSource child_;
  StopSource sibling_;
};

TEST_F(DeadlinesTest, OneStopsItsSessionAtTheMoment) {
  deadlines_.start(session("root", "", 10), root_);
  pass(9);
  EXPECT_FALSE(root_.token().stopped());
  pass(1);
  EXPECT_EQ(root_.token().reason(), StopReason::deadline);
}

TEST_F(DeadlinesTest, ThoseOfASessionThatWaitsAndOfAllAboveItStandStillAndNoOthers) {
  deadlines_.start(session("root", "", 10), root_);
  deadlines_.start(session("child", "root", 5), child_);
  deadlines_.start(session("sibling", "root", 5), sibling_);
  pass(4);
  deadlines_.hold(SessionId("child"));
  pass(60);
  EXPECT_FALSE(root_.token().stopped());
  EXPECT_FALSE(child_.token().stopped());
  EXPECT_EQ(sibling_.token().reason(), StopReason::deadline);
  const auto moved = deadlines_.go_on(SessionId("child"));
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[0].run.session, SessionId("child"));
  EXPECT_EQ(moved[0].deadline, loop_.clock().wall() + minutes(1) - kMoment);
  EXPECT_EQ(moved[1].deadline, loop_.clock().wall() + minutes(6) - kMoment);
  pass(2);
  EXPECT_EQ(child_.token().reason(), StopReason::deadline);
  EXPECT_FALSE(root_.token().stopped());
  pass(4);
  EXPECT_EQ(root_.token().reason(), StopReason::deadline);
}

TEST_F(DeadlinesTest, OneThatEndsWhileItAsksHoldsNobodyAboveItAnyLonger) {
  deadlines_.start(session("root", "", 10), root_);
  deadlines_.start(session("child", "root", 5), child_);
  deadlines_.hold(SessionId("child"));
  deadlines_.hold(SessionId("child"));
  pass(60);
  const auto moved = deadlines_.end(SessionId("child"));
  ASSERT_EQ(moved.size(), 1u) << "to be recorded";
  EXPECT_EQ(moved[0].run.session, SessionId("root"));
  EXPECT_EQ(moved[0].deadline, loop_.clock().wall() + minutes(10));
  EXPECT_TRUE(deadlines_.go_on(SessionId("child")).empty()) << "when it hears of an answer at last";
  pass(9);
  EXPECT_FALSE(root_.token().stopped());
  pass(1);
  EXPECT_EQ(root_.token().reason(), StopReason::deadline);
}

TEST_F(DeadlinesTest, TwoQuestionsAtOnceAreWaitedForTogether) {
  deadlines_.start(session("root", "", 10), root_);
  deadlines_.hold(SessionId("root"));
  pass(5);
  deadlines_.hold(SessionId("root"));
  pass(5);
  EXPECT_TRUE(deadlines_.go_on(SessionId("root")).empty());
  pass(5);
  ASSERT_EQ(deadlines_.go_on(SessionId("root")).size(), 1u);
  pass(9);
  EXPECT_FALSE(root_.token().stopped());
  pass(1);
  EXPECT_TRUE(root_.token().stopped());
}

TEST_F(DeadlinesTest, WhoHasNoneIsNotMoved) {
  deadlines_.start(session("root", "", 0), root_);
  deadlines_.hold(SessionId("root"));
  pass(5);
  EXPECT_TRUE(deadlines_.go_on(SessionId("root")).empty());
}

TEST_F(DeadlinesTest, WhoHasNoneStallsOnceNothingWasHeardOfItForADay) {
  deadlines_.start(session("root", "", 0), root_);
  EXPECT_EQ(deadlines_.end_of(SessionId("root")), loop_.clock().wall() + minutes(kDay));
  pass(kDay - 1);
  EXPECT_THAT(stalled_, IsEmpty());
  pass(1);
  EXPECT_THAT(stalled_, ElementsAre(SessionId("root")));
}

TEST_F(DeadlinesTest, WithWhatIsHeardOfItTheDayBeginsAnew) {
  deadlines_.start(session("root", "", 0), root_);
  for (int i = 0; i < 3; ++i) {
    pass(kDay - 1);
    deadlines_.heard(SessionId("root"));
    EXPECT_EQ(deadlines_.end_of(SessionId("root")), loop_.clock().wall() + minutes(kDay));
  }
  pass(kDay - 1);
  EXPECT_THAT(stalled_, IsEmpty());
  pass(1);
  EXPECT_THAT(stalled_, ElementsAre(SessionId("root")));
}

TEST_F(DeadlinesTest, WhoWaitsForSomebodyDoesNotStallBeforeItHasWorkedForADay) {
  deadlines_.start(session("root", "", 0), root_);
  deadlines_.rest(SessionId("root"));
  deadlines_.rest(SessionId("root"));
  pass(5 * kDay);
  deadlines_.work(SessionId("root"));
  pass(kDay - 1);
  EXPECT_THAT(stalled_, IsEmpty());
  pass(1);
  EXPECT_THAT(stalled_, ElementsAre(SessionId("root")));
}

TEST_F(DeadlinesTest, WhoHasOneOrHasEndedDoesNotStall) {
  deadlines_.start(session("root", "", 5 * kDay), root_);
  deadlines_.start(session("child", "root", 0), child_);
  EXPECT_EQ(deadlines_.end_of(SessionId("root")), loop_.clock().wall() + minutes(5 * kDay));
  deadlines_.end(SessionId("child"));
  pass(2 * kDay);
  EXPECT_THAT(stalled_, IsEmpty());
  EXPECT_EQ(deadlines_.end_of(SessionId("child")), loop_.clock().wall() + minutes(kDay))
      << "as for one that has not begun";
}

TEST_F(DeadlinesTest, TheEndOfOneThatRestsOrIsHeldLiesAheadHoweverLongItDoes) {
  deadlines_.start(session("root", "", 0), root_);
  deadlines_.start(session("child", "root", 5), child_);
  deadlines_.rest(SessionId("root"));
  deadlines_.hold(SessionId("child"));
  pass(2 * kDay);
  EXPECT_EQ(deadlines_.end_of(SessionId("root")), loop_.clock().wall() + minutes(kDay));
  EXPECT_EQ(deadlines_.end_of(SessionId("child")), loop_.clock().wall() + minutes(5));
  deadlines_.work(SessionId("root"));
  deadlines_.go_on(SessionId("child"));
  pass(1);
  EXPECT_EQ(deadlines_.end_of(SessionId("root")), loop_.clock().wall() + minutes(kDay - 1) - kMoment);
  EXPECT_EQ(deadlines_.end_of(SessionId("child")), loop_.clock().wall() + minutes(4) - kMoment);
}

TEST_F(DeadlinesTest, WhatIsPlannedForOneCountsUntilItBegins) {
  const WallTime planned = loop_.clock().wall() + minutes(7);
  EXPECT_EQ(deadlines_.end_of(SessionId("root"), planned), planned);
  deadlines_.start(session("root", "", 10), root_);
  EXPECT_EQ(deadlines_.end_of(SessionId("root"), planned), loop_.clock().wall() + minutes(10));
}

TEST_F(DeadlinesTest, AStepOfTheWallClockMovesNone) {
  deadlines_.start(session("root", "", 10), root_);
  loop_.manual_clock().jump_wall(std::chrono::hours(1));
  pass(9);
  EXPECT_FALSE(root_.token().stopped());
  loop_.manual_clock().jump_wall(-std::chrono::hours(2));
  pass(1);
  EXPECT_TRUE(root_.token().stopped());
}

}  // namespace
}  // namespace deputy
