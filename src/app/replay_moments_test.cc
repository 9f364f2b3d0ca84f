#include "app/replay_moments.h"

#include <gmock/gmock.h>

#include <utility>

#include "delegation/question_ids.h"

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;
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
std::vector<Event> a_tree() {
  Session session;
  session.id = kRoot;
  return {event_at(0s, SessionCreated{session}), event_at(10s, NoteTaken{"a"})};
}

TimePoint moment_of_last(const std::vector<Event>& events) { return Moments(events).of(events.size() - 1); }

TEST(MomentsOfAReplay, AreThoseOfTheTreeFromItsBeginning) {
  const Moments moments(a_tree());
  EXPECT_EQ(moments.of(0), TimePoint{});
  EXPECT_EQ(moments.of(1), TimePoint(10s));
}

TEST(MomentsOfAReplay, GoOnFromWhereTheClockWasSetBack) {
  auto events = a_tree();
  events.push_back(event_at(-1h, NoteTaken{"b"}));
  events.push_back(event_at(-1h + 5s, NoteTaken{"c"}));
  const Moments moments(events);
  EXPECT_EQ(moments.of(2), TimePoint(10s));
  EXPECT_EQ(moments.of(3), TimePoint(15s));
}

TEST(MomentsOfAReplay, StandStillWhileNoProgramRanTheTree) {
  auto events = a_tree();
  events.push_back(event_at(1h, TakenUp{}));
  events.push_back(event_at(1h + 5s, NoteTaken{"b"}));
  EXPECT_THAT(next_programs_in(events), ElementsAre(FieldsAre(2u, 2u)));
  const Moments moments(events);
  EXPECT_EQ(moments.of(1), TimePoint(10s));
  EXPECT_EQ(moments.of(2), TimePoint(10s));
  EXPECT_EQ(moments.of(3), TimePoint(15s));
}

TEST(MomentsOfAReplay, GoOnWhileAProgramRunsTheTree) {
  auto events = a_tree();
  events.push_back(event_at(1h, DeadlineMoved{kBegin + 2h}));
  EXPECT_THAT(next_programs_in(events), IsEmpty());
  EXPECT_EQ(moment_of_last(events), TimePoint(1h));
}

TEST(AProgram, ThatTakesATreeUpReservesFirstWhatMayHaveBeenAskedBefore) {
  auto events = a_tree();
  events.push_back(event_at(11s, BudgetReserved{}));  // by the one before it
  events.push_back(event_at(1h, BudgetReserved{}));
  events.push_back(event_at(1h, BudgetReserved{}));
  events.push_back(event_at(1h, TakenUp{}));
  EXPECT_THAT(next_programs_in(events), ElementsAre(FieldsAre(3u, 5u)));
  EXPECT_EQ(moment_of_last(events), TimePoint(11s));
}

constexpr std::size_t kTakenUp = 3;  // of the events

std::vector<Event> a_question_that_is_taken_up_after(std::chrono::seconds away) {
  Question question{.id = "q", .kind = QuestionKind::to_parent};
  question.until = kBegin + 10min;
  auto events = a_tree();
  events.push_back(event_at(20s, QuestionAsked{question}));
  events.push_back(event_at(20s + away, TakenUp{}));
  events.push_back(event_at(25s + away, QuestionAnswered{"q", {}}));
  return events;
}

TEST(MomentsOfAReplay, StandStillWhereAQuestionHasTimeLeft) {
  EXPECT_EQ(Moments(a_question_that_is_taken_up_after(9min)).of(kTakenUp), TimePoint(20s));
}

TEST(MomentsOfAReplay, GoOnWhereTheTimeOfAQuestionRanOutMeanwhile) {
  EXPECT_EQ(Moments(a_question_that_is_taken_up_after(11min)).of(kTakenUp), TimePoint(20s + 11min));
}

// A question that somebody ends without an answer, and half a minute in which nobody runs the tree, across
// the time that it had.
TimePoint moment_after_a_question_and(Fact end, const RunId& of) {
  const CallId call{{kRoot, 1}, 1, 0};
  Question question{.id = question_id_of(call), .kind = QuestionKind::to_parent};
  question.until = kBegin + 10min;
  auto events = a_tree();
  events.push_back(event_at(20s, QuestionAsked{question}));
  events.push_back(event_at(30s, std::move(end)));
  for (Event* of_call : {&events[2], &events[3]}) {
    of_call->step = call.step;
    of_call->call = call.index;
  }
  events[3].run = of;
  events.push_back(event_at(9min + 45s, NoteTaken{"b"}));
  events.push_back(event_at(10min + 15s, TakenUp{}));
  return moment_of_last(events);
}

TEST(MomentsOfAReplay, StandStillWhereWhoAskedHasEndedWithoutAnAnswer) {
  for (const Fact& end : {Fact(RunEnded{}), Fact(CallFinished{})}) {
    EXPECT_EQ(moment_after_a_question_and(end, {kRoot, 1}), TimePoint(9min + 45s)) << kind_of(end);
  }
}

TEST(MomentsOfAReplay, GoOnWhereSomebodyElseThanWhoAskedHasEnded) {
  const RunId other{SessionId("sess_1800000000_bbbbbb"), 1};
  for (const auto& [end, of] :
       {std::pair(Fact(RunEnded{}), other), {CallFinished{}, other}, {RunEnded{}, RunId{kRoot, 2}}}) {
    EXPECT_EQ(moment_after_a_question_and(end, of), TimePoint(10min + 15s)) << kind_of(end);
  }
}

// With a clock that goes through all time, to and fro.
TEST(MomentsOfAReplay, AreBelievableWhateverABundleSays) {
  auto events = a_tree();
  for (int i = 0; i < 10; ++i) {
    for (const WallTime at : {WallTime::min(), WallTime::max()}) {
      events.push_back(event_at(0s, NoteTaken{"b"}));
      events.back().at = at;
    }
  }
  const Moments moments(events);
  for (std::size_t at = 1; at < events.size(); ++at) EXPECT_GE(moments.of(at), moments.of(at - 1));
  EXPECT_LE(moment_of_last(events), TimePoint(std::chrono::years(101)));
}

}  // namespace
}  // namespace deputy
