#include "app/replay_moments.h"

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
