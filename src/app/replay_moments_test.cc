#include "app/replay_moments.h"

#include "delegation/question_ids.h"
#include "gtest/gtest.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

const SessionId kRoot("sess_1800000000_aaaaaa");
constexpr WallTime kBegin{1'800'000'000s};

Event event_at(Duration after, Fact fact) {
  Event event;
  event.at = kBegin + std::chrono::duration_cast<WallTime::duration>(after);
  event.tree = kRoot;
  event.run = {kRoot, 1};
  event.fact = std::move(fact);
  return event;
}
std::vector<Event> a_tree_with_a_deadline() {
  Session session;
  session.id = kRoot;
  session.deadline = kBegin + 60s;
  return {event_at(0s, SessionCreated{session}), event_at(10s, NoteTaken{"a"})};
}

TEST(MomentsOfAReplay, AreThoseOfTheTreeFromItsBeginning) {
  const Moments moments(a_tree_with_a_deadline());
  EXPECT_EQ(moments.of(kBegin), TimePoint{});
  EXPECT_EQ(moments.of(kBegin + 10s), TimePoint(10s));
  EXPECT_EQ(moments.of(kBegin - 1h), TimePoint{}) << "a clock that was set back";
}

TEST(MomentsOfAReplay, StandStillWhileNoProgramRanTheTree) {
  auto events = a_tree_with_a_deadline();
  events.push_back(event_at(1h, StateChanged{SessionState::running, ""}));
  events.push_back(event_at(1h, DeadlineMoved{kBegin + 60s + 1h - 10s}));
  events.push_back(event_at(1h + 5s, NoteTaken{"b"}));
  const Moments moments(events);
  EXPECT_EQ(moments.of(kBegin + 10s), TimePoint(10s));
  EXPECT_EQ(moments.of(kBegin + 1h), TimePoint(10s));
  EXPECT_EQ(moments.of(kBegin + 1h + 5s), TimePoint(15s));
}

TEST(MomentsOfAReplay, GoOnWhileThePersonThinks) {
  auto events = a_tree_with_a_deadline();
  events.push_back(event_at(1h, DeadlineMoved{kBegin + 60s + 1h - 10s}));
  events.push_back(event_at(1h, QuestionAnswered{"q", {}}));
  EXPECT_EQ(Moments(events).of(kBegin + 1h), TimePoint(1h));
}

TEST(MomentsOfAReplay, GoOnWhereADeadlineWasMovedForSomethingElse) {
  auto events = a_tree_with_a_deadline();
  events.push_back(event_at(1h, DeadlineMoved{kBegin + 70s}));
  EXPECT_EQ(Moments(events).of(kBegin + 1h), TimePoint(1h));
}

std::vector<Event> a_question_that_is_taken_up_after(std::chrono::seconds away) {
  Question question{.id = "q", .kind = QuestionKind::to_parent};
  question.until = kBegin + 10min;
  auto events = a_tree_with_a_deadline();
  events.push_back(event_at(20s, QuestionAsked{question}));
  events.push_back(event_at(20s + away, DeadlineMoved{kBegin + 60s + away}));
  events.push_back(event_at(25s + away, QuestionAnswered{"q", {}}));
  return events;
}

TEST(MomentsOfAReplay, StandStillWhereAQuestionHasTimeLeft) {
  const auto events = a_question_that_is_taken_up_after(9min);
  EXPECT_TRUE(taken_up_too_late(events).empty());
  EXPECT_EQ(Moments(events).of(kBegin + 20s + 9min), TimePoint(20s));
}

TEST(MomentsOfAReplay, GoOnWhereTheTimeOfAQuestionRanOutMeanwhile) {
  const auto events = a_question_that_is_taken_up_after(11min);
  EXPECT_EQ(taken_up_too_late(events), std::set<std::size_t>{3});
  EXPECT_EQ(Moments(events).of(kBegin + 20s + 11min), TimePoint(20s + 11min));
}

TEST(MomentsOfAReplay, KnowAQuestionThatRanOutWhileItsProgramRan) {
  auto events = a_question_that_is_taken_up_after(9min);
  events.resize(3);
  events.push_back(event_at(10min, QuestionAnswered{"q", {}}));
  EXPECT_TRUE(taken_up_too_late(events).empty());
}

// A question that somebody ends without an answer, and half a minute of nothing across the time that it had.
std::vector<Event> a_quiet_time_after_a_question_and(Fact end, const RunId& of) {
  const CallId call{{kRoot, 1}, 1, 0};
  Question question{.id = question_id_of(call), .kind = QuestionKind::to_parent};
  question.until = kBegin + 10min;
  auto events = a_tree_with_a_deadline();
  events.push_back(event_at(20s, QuestionAsked{question}));
  events.push_back(event_at(30s, std::move(end)));
  for (Event* of_call : {&events[2], &events[3]}) {
    of_call->step = call.step;
    of_call->call = call.index;
  }
  events[3].run = of;
  events.push_back(event_at(9min + 45s, NoteTaken{"b"}));
  events.push_back(event_at(10min + 15s, DeadlineMoved{kBegin + 60s + 30s}));
  return events;
}

TEST(MomentsOfAReplay, StandStillWhereWhoAskedHasEndedWithoutAnAnswer) {
  for (const Fact& end : {Fact(RunEnded{}), Fact(CallFinished{})}) {
    const auto events = a_quiet_time_after_a_question_and(end, {kRoot, 1});
    EXPECT_TRUE(taken_up_too_late(events).empty()) << kind_of(end);
    EXPECT_EQ(Moments(events).of(kBegin + 10min + 15s), TimePoint(9min + 45s)) << kind_of(end);
  }
}

TEST(MomentsOfAReplay, GoOnWhereSomebodyElseThanWhoAskedHasEnded) {
  const std::set<std::size_t> late{5};
  const RunId other{SessionId("sess_1800000000_bbbbbb"), 1};
  EXPECT_EQ(taken_up_too_late(a_quiet_time_after_a_question_and(RunEnded{}, other)), late);
  EXPECT_EQ(taken_up_too_late(a_quiet_time_after_a_question_and(CallFinished{}, other)), late);
  EXPECT_EQ(taken_up_too_late(a_quiet_time_after_a_question_and(RunEnded{}, {kRoot, 2})), late);
}

TEST(MomentsOfAReplay, AreBelievableWhateverABundleSays) {
  auto events = a_tree_with_a_deadline();
  events.front().at = WallTime::min();
  events.push_back(event_at(0s, DeadlineMoved{WallTime::max()}));
  events.back().at = WallTime::max();
  const Moments moments(events);
  EXPECT_GE(moments.of(WallTime::max()), TimePoint{});
  EXPECT_EQ(moments.of(WallTime::min()), TimePoint{});
}

}  // namespace
}  // namespace deputy
