#include "app/replay_comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Event event_of(const SessionId& session, Fact fact) {
  Event event;
  event.run = {session, 1};
  event.fact = std::move(fact);
  return event;
}
Event creation(const SessionId& id, const std::optional<SessionId>& parent = std::nullopt,
               DelegationKey key = {}) {
  Session session;
  session.id = id;
  session.parent = parent;
  if (parent) session.delegation = key;
  return event_of(id, SessionCreated{session});
}
RunEnded an_end(std::string body, Reason reason = Reason::none) {
  Report report;
  report.body = std::move(body);
  report.reason = reason;
  return {report};
}

const SessionId kRoot("sess_1800000000_aaaaaa");

// That waits once, takes a note and ends.
std::vector<Event> a_tree() {
  return {creation(kRoot), event_of(kRoot, StateChanged{SessionState::waiting, ""}),
          event_of(kRoot, StateChanged{SessionState::waiting, ""}), event_of(kRoot, NoteTaken{"a"}),
          event_of(kRoot, an_end("done"))};
}

TEST(AComparison, CountsTheEventsThatItCompares) {
  auto events = a_tree();
  events.push_back(event_of(kRoot, ProcessEnded{"make"}));
  EXPECT_EQ(Comparison(events).with(events).events, 5u);
  events.push_back(event_of(kRoot, TakenUp{}));
  EXPECT_EQ(Comparison(events).with(events).events, 4u)
      << "how a tree waits that was taken up is not compared";
}

TEST(AComparison, PassesOverHowATreeWaitedThatWasTakenUp) {
  auto then = a_tree();
  auto now = a_tree();
  now.erase(now.begin() + 1, now.begin() + 3);
  EXPECT_EQ(Comparison(then).with(now).differences.size(), 1u);
  then.push_back(event_of(kRoot, TakenUp{}));
  now.push_back(event_of(kRoot, TakenUp{}));
  EXPECT_THAT(Comparison(then).with(now).differences, IsEmpty());
}

// Which is when they are told of it.
TEST(AComparison, PassesOverWhatASessionDidWhenAWordCameIn) {
  auto then = a_tree();
  then.insert(then.begin() + 3, event_of(kRoot, Nudged{"w", Source::person, "be quick"}));
  auto now = then;
  std::swap(now[3], now[4]);
  EXPECT_THAT(Comparison(then).with(now).differences, IsEmpty());
  std::get<Nudged>(now[4].fact).text = "be slow";
  EXPECT_EQ(Comparison(then).with(now).differences.size(), 1u);
}

TEST(AComparison, NamesWhatDiffersInItsOrder) {
  const SessionId child("sess_1800000000_bbbbbb");
  auto then = a_tree();
  then.insert(then.begin() + 3, {creation(child, kRoot, {{{kRoot, 1}, 0, 0}, 0}),
                                 event_of(child, NoteTaken{"b"}), event_of(child, an_end("done"))});
  auto now = then;
  std::get<NoteTaken>(now[4].fact).content = "c";
  std::get<RunEnded>(now.back().fact).report->body = "not done";
  const Replayed replayed = Comparison(then).with(now);
  EXPECT_THAT(replayed.differences,
              ElementsAre(HasSubstr("session root/1.0.0.0,"), HasSubstr("session root,")));
  EXPECT_EQ(replayed.first, 4u);
}

std::size_t differences_where_told(std::string_view prompt, Fact then, Fact now) {
  std::vector<Event> before{creation(kRoot), event_of(kRoot, InputGiven{Source::person, std::string(prompt)}),
                            event_of(kRoot, std::move(then)), event_of(kRoot, an_end("done"))};
  auto after = before;
  after[2].fact = std::move(now);
  return Comparison(before).with(after).differences.size();
}

TEST(AComparison, PassesOverHowMuchWasReservedWhereSomethingIsRedacted) {
  const BudgetReserved then{.tokens = 7};
  EXPECT_EQ(differences_where_told("look", then, BudgetReserved{.tokens = 8}), 1u);
  EXPECT_EQ(differences_where_told("look at [redacted]", then, BudgetReserved{.tokens = 8}), 0u);
  EXPECT_EQ(differences_where_told("look at [redacted]", then, NoteTaken{"a"}), 1u);
}

TEST(AComparison, PassesOverWhatIsLeftWhereSomethingIsRedacted) {
  const auto asked = [](std::string_view text) {
    return QuestionAsked{{.id = "q", .text = std::string(text)}};
  };
  EXPECT_EQ(differences_where_told("look", asked("1,000 are left"), asked("999 are left")), 1u);
  EXPECT_EQ(differences_where_told("[redacted]", asked("1,000 are left"), asked("999 are left")), 0u);
  EXPECT_EQ(differences_where_told("[redacted]", asked("1,000 are left"), asked("1,000 are gone")), 1u);
}

bool is_of_time(Fact then, Fact now) {
  std::vector<Event> before{creation(kRoot), event_of(kRoot, std::move(then))};
  const std::vector<Event> after{creation(kRoot), event_of(kRoot, std::move(now))};
  const Replayed replayed = Comparison(before).with(after);
  EXPECT_EQ(replayed.differences.size(), 1u);
  return replayed.is_of_time;
}

TEST(ADifference, MayComeOfTimeWhereOneOfTheTwoTellsOfIt) {
  EXPECT_TRUE(is_of_time(an_end("a", Reason::timeout), an_end("b")));
  EXPECT_TRUE(is_of_time(an_end("a"), an_end("b", Reason::stalled)));
  EXPECT_TRUE(is_of_time(InputGiven{Source::runtime, "time is up", Reason::timeout}, NoteTaken{"a"}));
  EXPECT_TRUE(is_of_time(RequestStopped{}, ReplyReceived{}));
  EXPECT_TRUE(is_of_time(QuestionAnswered{"q", {.kind = AnswerKind::nobody}},
                         QuestionAnswered{"q", {.kind = AnswerKind::approved}}));
  EXPECT_TRUE(is_of_time(StateChanged{SessionState::waiting, ""}, StateChanged{SessionState::running, ""}));
}

TEST(ADifference, ComesOfSomethingElseWhereNoneOrBothTellOfTime) {
  EXPECT_FALSE(is_of_time(an_end("a"), an_end("b")));
  EXPECT_FALSE(is_of_time(an_end("a", Reason::timeout), an_end("b", Reason::timeout)));
  EXPECT_FALSE(is_of_time(NoteTaken{"a"}, NoteTaken{"b"}));
  EXPECT_FALSE(
      is_of_time(InputGiven{Source::runtime, "you go round in circles", Reason::repetition}, NoteTaken{"a"}));
}

TEST(AnAttempt, IsCloserThatWentTheSameWayForLonger) {
  const Replayed same;
  const Replayed early{.differences = {"root"}, .first = 3};
  const Replayed late{.differences = {"root", "a", "b"}, .first = 9};
  const Replayed late_in_fewer{.differences = {"root", "a"}, .first = 9};
  EXPECT_TRUE(is_closer(late, early));
  EXPECT_FALSE(is_closer(early, late));
  EXPECT_TRUE(is_closer(late_in_fewer, late));
  EXPECT_FALSE(is_closer(late, late_in_fewer));
  EXPECT_FALSE(is_closer(late, late));
  EXPECT_TRUE(is_closer(same, late));
  EXPECT_FALSE(is_closer(late, same));
}

// Each stands in the place of another: whoever looked at what it has put in would never come to an end.
TEST(AComparison, OfIdsThatStandInPlacesIsNoLongerThanTheTree) {
  constexpr int kSessions = 60;
  constexpr int kFirst = 1'000'000;
  std::vector<Event> events{creation(kRoot)};
  for (int i = kFirst; i < kFirst + kSessions; ++i) {
    const int other = i + 1;
    events.push_back(creation(SessionId(std::to_string(i)), kRoot, {{{kRoot, other}, other, other}, other}));
  }
  auto others = events;
  std::get<SessionCreated>(others.back().fact).session->label = "another";
  const Comparison comparison(events);
  EXPECT_THAT(comparison.with(events).differences, IsEmpty());
  EXPECT_EQ(comparison.with(others).differences.size(), 1u);
}

}  // namespace
}  // namespace deputy
