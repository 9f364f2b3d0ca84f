#include "model/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace deputy {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using enum Failure::Kind;

class RetryDecision : public testing::Test {
 protected:
  Retry decide(Failure failure, Tried tried) { return after_failure(failure, tried, patience_, random_); }
  std::optional<Duration> wait(Failure failure, Tried tried) {
    const Retry retry = decide(std::move(failure), tried);
    if (const auto* again = std::get_if<TryAgain>(&retry)) return again->wait;
    return std::nullopt;
  }
  std::string why(Failure failure, Tried tried) {
    const Retry retry = decide(std::move(failure), tried);
    const auto* up = std::get_if<GiveUp>(&retry);
    return up ? up->why : "";
  }

  Patience patience_;
  SeededRandom random_{5};
};

TEST_F(RetryDecision, IsNeverAfterADefiniteError) {
  EXPECT_EQ(why({.kind = definite, .message = "No such model."}, {.failed = 1}), "No such model.");
  EXPECT_EQ(why({.kind = context_exhausted, .message = "Too long."}, {.failed = 1}), "Too long.");
}

TEST_F(RetryDecision, WaitsTwiceAsLongEachTimeAndNeverQuiteTheSame) {
  for (int failed = 1; failed <= 7; ++failed) {
    const Duration whole = seconds{1} * (1 << (failed - 1));
    std::set<Duration> seen;
    for (int i = 0; i < 50; ++i) {
      const auto waited = wait({.kind = transient, .message = ""}, {.failed = failed});
      ASSERT_TRUE(waited);
      EXPECT_LE(*waited, std::min<Duration>(whole, seconds{60}));
      EXPECT_GE(*waited, std::min<Duration>(whole, seconds{60}) * 3 / 4);
      seen.insert(*waited);
    }
    EXPECT_GT(seen.size(), 40u);
  }
}

TEST_F(RetryDecision, WaitsAsLongAsTheServerWants) {
  EXPECT_EQ(wait({.kind = transient, .message = "", .retry_after = seconds{33}}, {.failed = 1}), seconds{33});
  EXPECT_GE(wait({.kind = transient, .message = "", .retry_after = milliseconds{1}}, {.failed = 1}),
            milliseconds{750});
}

TEST_F(RetryDecision, EndsAtTheEighthFailure) {
  EXPECT_TRUE(wait({.kind = transient, .message = "Down."}, {.failed = 7}));
  EXPECT_EQ(why({.kind = transient, .message = "Down."}, {.failed = 8}), "Down. Tried 8 times.");
}

// A server that cannot be reached may be starting, on this machine as elsewhere.
TEST_F(RetryDecision, ReachesForAServerAsOftenAsForAnAnswer) {
  const Failure refused{.kind = transient, .message = "Cannot reach it.", .is_unreached = true};
  EXPECT_TRUE(wait(refused, {.failed = 7}));
  EXPECT_EQ(why(refused, {.failed = 8}), "Cannot reach it. Tried 8 times.");
}

TEST_F(RetryDecision, ReachesForAServerOnThisMachineWithinSeconds) {
  const Failure refused{.kind = transient, .message = "Cannot reach it.", .is_unreached = true};
  for (const auto* url : {"http://127.0.0.1:11434", "http://localhost:8080/v1", "https://[::1]:1/v1"}) {
    patience_ = patience_with(url);
    Duration all{};
    for (int failed = 1; failed < 8; ++failed) all += *wait(refused, {.failed = failed});
    EXPECT_LE(all, std::chrono::milliseconds(3500)) << url;
    EXPECT_GE(all, std::chrono::milliseconds(2500)) << url;
    EXPECT_GT(wait({.kind = transient, .message = "It broke."}, {.failed = 7}), std::chrono::seconds(40))
        << url;
  }
  patience_ = patience_with("https://api.example/v1");
  EXPECT_GT(wait(refused, {.failed = 7}), std::chrono::seconds(40));
}

TEST(Patience, HasSlowStartsButWithAServerOnThisMachine) {
  EXPECT_EQ(patience_with("http://127.0.0.1:11434").at_once, 1024);
  EXPECT_EQ(patience_with("https://api.example/v1").at_once, 1);
}

TEST_F(RetryDecision, CountsOnlyWhatHardlyHelpsTowardsItsOwnEnd) {
  const Failure unusable{.kind = transient, .message = "A bad call.", .most_attempts = 2};
  Tried tried;
  for (int i = 0; i < 5; ++i) tried.count_failure({.kind = transient, .message = "Down."}, {});
  tried.count_failure(unusable, {});
  EXPECT_TRUE(wait(unusable, tried)) << "the first bad call, after five failures of another kind";
  tried.count_failure(unusable, {});
  EXPECT_EQ(why(unusable, tried), "A bad call. Tried 7 times.");
  EXPECT_TRUE(wait({.kind = transient, .message = "Down."}, tried)) << "not what bad calls are asked for";
}

TEST_F(RetryDecision, EndsAfterFiveMinutes) {
  const Failure failure{.kind = transient, .message = "Silent.", .retry_after = seconds{10}};
  EXPECT_TRUE(wait(failure, {.failed = 2, .spent = minutes{5} - seconds{10} - milliseconds{1}}));
  EXPECT_EQ(why(failure, {.failed = 2, .spent = minutes{5} - seconds{10}}),
            "Silent. Tried 2 times. It wants no other request for 10s.");
}

TEST_F(RetryDecision, CountsNothingWhileItIsRateLimited) {
  EXPECT_EQ(wait({.kind = rate_limited, .message = ""}, {.failed = 100, .spent = hours{5}}), Duration{});
}

TEST_F(RetryDecision, SaysAtOnceWhenARateLimitWantsTooMuch) {
  const auto limited = [](Duration wanted) {
    return Failure{.kind = rate_limited, .message = "Quota.", .retry_after = wanted};
  };
  EXPECT_TRUE(wait(limited(minutes{15}), {}));
  EXPECT_THAT(why(limited(minutes{15} + seconds{1}), {}), HasSubstr("wants no request for 15m"));
  EXPECT_THAT(why(limited(hours{1}), {}), HasSubstr("at least 1h"));
}

TEST_F(RetryDecision, EndsWhenARateLimitLetsNothingThroughForAnHour) {
  EXPECT_TRUE(wait({.kind = rate_limited, .message = ""}, {.rate_limited = hours{1} - seconds{1}}));
  EXPECT_THAT(why({.kind = rate_limited, .message = "Busy."}, {.rate_limited = hours{1}}),
              HasSubstr("Nothing was let through for 1h"));
}

TEST_F(RetryDecision, ARequestThatIsLargerThanItsQuotaNeverFits) {
  const auto of = [](TokenQuota quota, Weight weight) {
    return weighed(
        {.kind = rate_limited, .message = "Quota exceeded", .retry_after = seconds{9}, .token_quota = quota},
        weight);
  };
  EXPECT_EQ(of({40'000}, {.tokens = 42'000}).kind, rate_limited) << "its estimate may be 5 % too high";
  EXPECT_EQ(of({40'000}, {.tokens = 42'000}).retry_after, seconds{9});
  const Failure large = of({40'000}, {.tokens = 42'001});
  EXPECT_EQ(large.kind, context_exhausted);
  EXPECT_EQ(large.retry_after, std::nullopt);
  EXPECT_EQ(large.message,
            "Quota exceeded. It comes to about 42,001 tokens, and 40,000 are taken in a minute.");
  EXPECT_EQ(of({40'000}, {.tokens = 90'000, .cached = 80'000}).kind, context_exhausted);
  EXPECT_EQ(of({40'000, true}, {.tokens = 94'500, .cached = 50'000}).kind, rate_limited);
  EXPECT_EQ(of({40'000, true}, {.tokens = 94'501, .cached = 50'000}).kind, context_exhausted);
  EXPECT_EQ(weighed({.kind = rate_limited}, {.tokens = 1'000'000}).kind, rate_limited) << "no quota is named";
  EXPECT_EQ(of({40'000}, {.tokens = 55'999, .may_be_far_less = true}).kind, rate_limited) << "it may yet fit";
  EXPECT_EQ(of({40'000}, {.tokens = 56'002, .may_be_far_less = true}).kind, context_exhausted);
}

}  // namespace
}  // namespace deputy
