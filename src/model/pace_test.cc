#include "model/pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint at(Duration since_start) { return TimePoint{seconds{1000} + since_start}; }

// Sends one as soon as it may be; returns its number and when that was.
struct Sent {
  std::uint64_t number;
  TimePoint at;
};
Sent send(Pace& pace, TimePoint now) {
  const TimePoint when = pace.earliest(now, 100);
  return {pace.send(when, 100), when};
}

RateLimits requests_left(double remaining, double limit, Duration full_in) {
  return {.requests = RateLimit{limit, remaining, full_in}, .tokens = {}};
}

// How many may be sent now.
int at_once(Pace& pace, TimePoint now) {
  int count = 0;
  for (; pace.earliest(now, 0) == now; ++count) pace.send(now, 0);
  return count;
}

TEST(Pace, LetsOneGoAtFirstAndMoreAsTheyAreLetIn) {
  Pace pace;
  std::uint64_t next = 1;
  for (const int wave : {1, 1, 2, 3, 4, 6}) {
    EXPECT_EQ(at_once(pace, at({})), wave);
    for (int i = 0; i < wave; ++i) pace.accepted(next++, {}, at({}));
  }
}

TEST(Pace, LetsAsManyGoAtFirstAsItIsTold) {
  Pace pace(64);
  EXPECT_EQ(at_once(pace, at({})), 64);
}

TEST(Pace, TakesItForLetInWhatHasNoAnswerForHalfASecond) {
  Pace pace;
  EXPECT_EQ(at_once(pace, at({})), 1);
  EXPECT_EQ(pace.earliest(at({}), 0), at(milliseconds{500}));
  EXPECT_EQ(pace.earliest(at(milliseconds{499}), 0), at(milliseconds{500}));
  EXPECT_EQ(at_once(pace, at(milliseconds{500})), 1);
}

TEST(Pace, LetsFewGoAtOnceAfterARejection) {
  Pace pace;
  pace.rejected(send(pace, at({})).number, seconds{1}, at({}));
  const Sent alone = send(pace, at(seconds{1}));
  EXPECT_EQ(at_once(pace, at(seconds{1})), 0);
  pace.accepted(alone.number, {}, at(seconds{1}));
  EXPECT_EQ(at_once(pace, at(seconds{2} + milliseconds{100})), 1);
}

TEST(Pace, DoesNotTakeOneAfterTheOtherForManyAtOnce) {
  Pace pace;
  TimePoint now = at({});
  for (int i = 0; i < 20; ++i, now += seconds{1}) pace.accepted(send(pace, now).number, {}, now);
  EXPECT_EQ(at_once(pace, now), 1);
}

TEST(Pace, HoldsNobodyUpWhereTheProviderSaysWhatIsLeft) {
  Pace pace;
  pace.accepted(send(pace, at({})).number, requests_left(49, 50, seconds{1}), at({}));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(send(pace, at({})).at, at({}));
}

// One a second, with what a rejection takes to come.
class Limited {
 public:
  explicit Limited(Pace& pace) : pace_(pace) {}
  // Sends one as soon as it may be, and says whether it was let in.
  bool send_one() {
    const TimePoint when = next();
    const auto number = pace_.send(when, 0);
    const bool is_let_in = is_lifted || when - let_in_ >= seconds{1};
    if (is_let_in) {
      let_in_ = when;
      pace_.accepted(number, {}, when);
    } else {
      pace_.rejected(number, seconds{1}, when + milliseconds{50});
    }
    pace_.forget(number);
    now_ = when;
    return is_let_in;
  }
  TimePoint next() {
    TimePoint when = now_;
    for (TimePoint later = pace_.earliest(when, 0); later > when; later = pace_.earliest(when, 0))
      when = later;
    return when;
  }
  TimePoint now() const { return now_; }
  bool is_lifted = false;

 private:
  Pace& pace_;
  TimePoint now_ = at({});
  TimePoint let_in_ = at(-seconds{10});
};

TEST(Pace, TriesNowAndThenWhetherTheLimitStillStands) {
  Pace pace;
  Limited limited(pace);
  while (limited.next() < at(seconds{60})) limited.send_one();
  int rejected = 0;
  while (limited.next() < at(seconds{120})) rejected += limited.send_one() ? 0 : 1;
  EXPECT_GE(rejected, 5);
  EXPECT_LE(rejected, 8);
}

// What the start costs is lent, and paid back by the time that 350 were sent.
TEST(Pace, TriesOnlyWhenATenthMayBeTurnedDownInTheEnd) {
  Pace pace;
  Limited limited(pace);
  int rejected = 0;
  for (int sent = 1; sent <= 400; ++sent) {
    rejected += limited.send_one() ? 0 : 1;
    ASSERT_LE(rejected * 10, sent + 20);
    if (sent >= 350) ASSERT_LE(rejected * 10, sent);
  }
  EXPECT_GE(rejected, 38) << "what may be is used";
}

// As soon as it does later on: nobody waits longer for the end of a limit that was met a moment ago.
TEST(Pace, TriesAtTheStartAsOftenAsLater) {
  for (int tenths = 10; tenths < 200; tenths += 7) {
    Pace pace;
    Limited limited(pace);
    while (limited.next() < at(milliseconds{100} * tenths)) limited.send_one();
    limited.is_lifted = true;
    const TimePoint lifted = limited.next();
    for (int i = 0; i < 60; ++i) limited.send_one();
    EXPECT_LE(limited.next() - lifted, seconds{10}) << "lifted after " << tenths << " tenths of a second";
  }
}

// The worst there is: the limit lifts the moment after something was sent, and most of all after a try. At
// most eleven requests are sent from one try to the next, so it takes ten paces and what the gate was shut.
TEST(Pace, NoticesWithinTenPacesThatTheLimitLiftedWhicheverRequestThatFollows) {
  for (int sent = 1; sent <= 350; ++sent) {
    Pace pace;
    Limited limited(pace);
    for (int i = 0; i < sent; ++i) limited.send_one();
    limited.is_lifted = true;
    const TimePoint lifted = limited.now();
    for (int i = 0; i < 60 && (i < 2 || pace.interval() > Duration{}); ++i) EXPECT_TRUE(limited.send_one());
    EXPECT_EQ(pace.interval(), Duration{}) << "lifted after request " << sent;
    EXPECT_LE(limited.now() - lifted, milliseconds{10'300}) << "lifted after request " << sent;
  }
}

TEST(Pace, DoesNotWaitWithATryForAllOfAStorm) {
  Pace pace(2);
  TimePoint now = at({});
  for (int i = 0; i < 50; ++i) {
    const Sent alone = send(pace, now);
    pace.rejected(alone.number, seconds{1}, now = alone.at);
  }
  for (int sent = 1;; ++sent) {
    const Sent one = send(pace, now);
    const bool is_try = one.at == now && sent > 1;
    pace.accepted(one.number, {}, now = one.at);
    if (!is_try) continue;
    EXPECT_EQ(sent, 101);
    break;
  }
}

// Two a second, where the first guess is one.
TEST(Pace, IsLookedForUntilARejectionShowsIt) {
  Pace pace;
  TimePoint now = at({});
  TimePoint let_in = at(-seconds{1});
  int rejected = 0;
  for (int i = 0; i < 30; ++i) {
    const Sent one = send(pace, now);
    now = one.at;
    if (one.at - let_in >= milliseconds{500}) {
      pace.accepted(one.number, {}, let_in = one.at);
    } else {
      pace.rejected(one.number, {}, one.at);
      ++rejected;
    }
  }
  EXPECT_LE(rejected, 3);
  EXPECT_GE(pace.interval(), milliseconds{500});
  EXPECT_LE(pace.interval(), milliseconds{550});
}

TEST(Pace, TriesAboutOnceInTenRequestsInTheLongRun) {
  Pace pace;
  Limited limited(pace);
  while (limited.next() < at(seconds{600})) limited.send_one();
  int rejected = 0;
  int sent = 0;
  for (; limited.next() < at(seconds{1200}); ++sent) rejected += limited.send_one() ? 0 : 1;
  EXPECT_LE(rejected * 10, sent);
  EXPECT_GE(rejected * 20, sent);
}

TEST(Pace, OpensUpWhenATryIsLetIn) {
  Pace pace;
  Limited limited(pace);
  while (limited.next() < at(seconds{60})) limited.send_one();
  limited.is_lifted = true;
  const TimePoint lifted = limited.next();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(limited.send_one());
  EXPECT_LE(limited.next() - lifted, seconds{11});
  EXPECT_EQ(pace.interval(), Duration{});
}

TEST(Pace, ShutsTheGateForAllUntilTheProviderWantsToHear) {
  Pace pace;
  const Sent first = send(pace, at({}));
  pace.rejected(first.number, seconds{30}, at({}));
  EXPECT_EQ(pace.earliest(at({}), 0), at(seconds{30}));
  EXPECT_EQ(pace.shut_until(), at(seconds{30}));
}

TEST(Pace, LetsOneGoAloneAfterTheGateWasShut) {
  Pace pace;
  pace.rejected(send(pace, at({})).number, seconds{30}, at({}));
  const Sent alone = send(pace, at(seconds{30}));
  EXPECT_EQ(alone.at, at(seconds{30}));
  EXPECT_EQ(pace.earliest(at(seconds{31}), 0), at(seconds{40}));  // it might hang
  pace.accepted(alone.number, {}, at(seconds{32}));
  EXPECT_EQ(pace.earliest(at(seconds{32}), 0), at(seconds{32}));
}

TEST(Pace, WaitsLongerForEachRejectionInARow) {
  Pace pace;
  TimePoint now = at({});
  Duration former{};
  for (int i = 0; i < 20; ++i) {
    const Sent sent = send(pace, now);
    pace.rejected(sent.number, milliseconds{100}, sent.at);
    const Duration shut = pace.shut_until() - sent.at;
    EXPECT_GE(shut, former);
    former = shut;
    now = sent.at;
  }
  EXPECT_EQ(former, seconds{120});
}

// As a server does that has too much to do for others: it lets in some, and turns down one.
void overload_after(Pace& pace, int let_in, TimePoint* now) {
  for (int i = 0; i < let_in; ++i) {
    const Sent one = send(pace, *now);
    pace.accepted(one.number, {}, *now = one.at);
    pace.forget(one.number);
  }
  const Sent one = send(pace, *now);
  pace.rejected(one.number, {}, *now = one.at, true);
}

TEST(Pace, BeginsAgainAfterAnOverloadThatNamesNoTime) {
  Pace pace(64);
  pace.rejected(send(pace, at({})).number, {}, at({}), true);
  EXPECT_EQ(pace.shut_until(), at(milliseconds{500}));
  TimePoint now = at(milliseconds{500});
  for (const int wave : {1, 1, 2, 3, 4}) {
    std::vector<std::uint64_t> numbers;
    while (pace.earliest(now, 0) == now) numbers.push_back(pace.send(now, 0));
    EXPECT_EQ(std::ssize(numbers), wave);
    for (const auto number : numbers) pace.accepted(number, {}, now);
  }
  EXPECT_EQ(pace.interval(), Duration{});
}

TEST(Pace, TakesAnOverloadThatNamesATimeForALimit) {
  Pace pace;
  pace.rejected(send(pace, at({})).number, seconds{1}, at({}), true);
  EXPECT_GE(pace.interval(), seconds{1});
}

TEST(Pace, TakesOverloadsForALimitOnceTheyAreMoreThanAQuarter) {
  Pace one_in_five;
  Pace one_in_three;
  TimePoint now = at({});
  for (int i = 0; i < 100; ++i) overload_after(one_in_five, 4, &now);
  EXPECT_EQ(one_in_five.interval(), Duration{});
  now = at({});
  for (int i = 0; i < 13; ++i) overload_after(one_in_three, 2, &now);
  EXPECT_EQ(one_in_three.interval(), Duration{});
  overload_after(one_in_three, 2, &now);
  EXPECT_GE(one_in_three.interval(), seconds{1});
}

TEST(Pace, IsNoSlowerForAnOverloadThatNamesNoTime) {
  Pace pace(2);
  TimePoint now = at({});
  pace.rejected(send(pace, now).number, seconds{1}, now);
  const Duration interval = pace.interval();
  for (int i = 0; i < 3; ++i) overload_after(pace, 4, &now);
  EXPECT_EQ(pace.interval(), interval);
}

TEST(Pace, IsWithoutAPaceAfterAStormOfOverloads) {
  Pace pace;
  TimePoint now = at({});
  overload_after(pace, 4, &now);
  for (int i = 0; i < 12; ++i) overload_after(pace, 0, &now);
  EXPECT_GE(pace.shut_until() - now, seconds{60});
  const Sent after = send(pace, now);
  pace.accepted(after.number, {}, after.at);
  EXPECT_EQ(pace.interval(), Duration{});
}

TEST(Pace, CutsThePaceOnceForThoseWhoWereSentTogether) {
  Pace one;
  Pace many;
  one.rejected(send(one, at({})).number, seconds{1}, at({}));
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 8; ++i) numbers.push_back(send(many, at({})).number);
  for (const auto number : numbers) many.rejected(number, seconds{1}, at({}));
  EXPECT_EQ(many.interval(), one.interval());
  EXPECT_EQ(many.shut_until(), one.shut_until());
}

TEST(Pace, KeepsTheLongestGateOfThoseWhoWereSentTogether) {
  Pace pace;
  const Sent first = send(pace, at({}));
  const Sent second = send(pace, at({}));
  pace.rejected(first.number, seconds{1}, at({}));
  pace.rejected(second.number, seconds{7}, at({}));
  EXPECT_EQ(pace.shut_until(), at(seconds{7}));
}

TEST(Pace, IsWhatTheProviderSaysIsLeft) {
  Pace pace;
  const Sent first = send(pace, at({}));
  pace.accepted(first.number, requests_left(2, 60, seconds{58}), at({}));  // one a second
  EXPECT_EQ(send(pace, at({})).at, at({}));
  EXPECT_EQ(send(pace, at({})).at, at({}));
  const TimePoint third = send(pace, at({})).at;
  EXPECT_GE(third, at(seconds{1}));
  EXPECT_LE(third, at(milliseconds{1100}));
  EXPECT_GE(pace.earliest(third, 0), at(seconds{2}));
}

TEST(Pace, IsFreeAgainWhenTheProviderSaysSoOrSaysNothingMore) {
  for (const RateLimits& later : {requests_left(9999, 10'000, milliseconds{6}), RateLimits{}}) {
    Pace pace;
    pace.accepted(send(pace, at({})).number, requests_left(1, 60, seconds{59}), at({}));
    const Sent second = send(pace, at({}));
    EXPECT_GT(pace.earliest(at({}), 0), at({}));
    pace.accepted(second.number, later, at(milliseconds{100}));
    EXPECT_EQ(pace.earliest(at(milliseconds{100}), 0), at(milliseconds{100}));
  }
}

TEST(Pace, HeedsALimitOnTokens) {
  Pace pace;
  const RateLimits limits{.requests = {},
                          .tokens = RateLimit{60'000, 500, seconds{60}}};  // about 1000 a second
  pace.accepted(send(pace, at({})).number, limits, at({}));
  EXPECT_EQ(pace.earliest(at({}), 400), at({}));
  EXPECT_GT(pace.earliest(at({}), 2500), at(seconds{1}));
  EXPECT_LT(pace.earliest(at({}), 2500), at(seconds{3}));
}

TEST(Pace, AsksAgainAfterAMinuteHoweverSlowlyALimitFillsUp) {
  Pace pace;
  pace.accepted(send(pace, at({})).number, requests_left(0, 50, std::chrono::hours{1}), at({}));
  EXPECT_EQ(pace.earliest(at({}), 0), at(seconds{60}));
  EXPECT_EQ(pace.earliest(at(seconds{40}), 0), at(seconds{60}));
  EXPECT_EQ(pace.earliest(at(seconds{60}), 0), at(seconds{60}));
  const Sent again = send(pace, at(seconds{60}));
  EXPECT_EQ(again.at, at(seconds{60}));
  EXPECT_EQ(pace.earliest(at(seconds{61}), 0), at(seconds{120}));
}

TEST(Pace, IsShutForAnHourAtMost) {
  Pace pace;
  pace.rejected(send(pace, at({})).number, std::chrono::hours{24}, at({}));
  EXPECT_EQ(pace.shut_until(), at(std::chrono::hours{1}));
}

TEST(Pace, DoesNotTakeItForAcceptedWhatIsRejectedAfterAll) {
  Pace pace;
  const Sent first = send(pace, at({}));
  pace.accepted(first.number, {}, at(seconds{1}));
  pace.forget(first.number);
  EXPECT_EQ(pace.last_accepted(), at(seconds{1}));
  const Sent second = send(pace, at(seconds{5}));
  const Sent third = send(pace, at(seconds{5}));
  pace.accepted(second.number, {}, at(seconds{6}));
  pace.accepted(third.number, {}, at(seconds{7}));
  pace.rejected(second.number, {}, at(seconds{8}));
  pace.rejected(third.number, {}, at(seconds{8}));
  EXPECT_EQ(pace.last_accepted(), at(seconds{1}));
}

TEST(Pace, TakesALateRejectionForNewOnceOthersGotThroughSince) {
  Pace pace;
  TimePoint now = at({});
  for (int i = 0; i < 10; ++i) {
    const Sent alone = send(pace, now);
    pace.rejected(alone.number, {}, now = alone.at);
  }
  const Sent accepted = send(pace, now);
  pace.accepted(accepted.number, {}, now = accepted.at);
  for (int i = 0; i < 3; ++i) {
    const Sent other = send(pace, now);
    pace.accepted(other.number, {}, now = other.at);
    pace.forget(other.number);
  }
  pace.rejected(accepted.number, {}, now += seconds{1});
  EXPECT_EQ(pace.shut_until(), now + milliseconds{500}) << "one in a row, not eleven";
}

TEST(Pace, DoesNotWaitForARequestThatIsLargerThanTheLimit) {
  Pace pace;
  const RateLimits limits{.requests = {}, .tokens = RateLimit{1000, 1000, {}}};
  pace.accepted(send(pace, at({})).number, limits, at({}));
  EXPECT_EQ(pace.earliest(at({}), 50'000), at({}));
}

TEST(Pace, ForgetsWhatEndedUntold) {
  Pace pace;
  pace.rejected(send(pace, at({})).number, seconds{1}, at({}));
  const Sent alone = send(pace, at(seconds{1}));
  pace.forget(alone.number);
  EXPECT_LE(pace.earliest(alone.at, 0), alone.at + milliseconds{1100});
}

}  // namespace
}  // namespace deputy
