#include "model/rate_limit_headers.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const WallTime kNow = *from_iso8601("2026-08-19T14:34:00Z");

TEST(RateLimitHeaders, AreReadAsAnthropicWritesThem) {
  const auto limits = parse_rate_limits({{"anthropic-ratelimit-requests-limit", "50"},
                                         {"anthropic-ratelimit-requests-remaining", "49"},
                                         {"anthropic-ratelimit-requests-reset", "2026-08-19T14:34:18Z"},
                                         {"anthropic-ratelimit-tokens-limit", "12000"},
                                         {"anthropic-ratelimit-tokens-remaining", "11000"},
                                         {"anthropic-ratelimit-tokens-reset", "2026-08-19T14:34:05Z"},
                                         {"anthropic-ratelimit-input-tokens-limit", "10000"},
                                         {"anthropic-ratelimit-input-tokens-remaining", "9000"},
                                         {"anthropic-ratelimit-input-tokens-reset", "2026-08-19T14:34:06Z"}},
                                        kNow);
  EXPECT_EQ(limits.requests, (RateLimit{50, 49, seconds{18}}));
  EXPECT_EQ(limits.tokens, (RateLimit{10'000, 9000, seconds{6}}));
}

TEST(RateLimitHeaders, AreReadAsOpenAiWritesThem) {
  const auto limits = parse_rate_limits({{"x-ratelimit-limit-requests", "10000"},
                                         {"x-ratelimit-remaining-requests", "9992"},
                                         {"x-ratelimit-reset-requests", "1m6.779s"},
                                         {"x-ratelimit-limit-tokens", "200000"},
                                         {"x-ratelimit-remaining-tokens", "199961"},
                                         {"x-ratelimit-reset-tokens", "11ms"}},
                                        kNow);
  EXPECT_EQ(limits.requests, (RateLimit{10'000, 9992, milliseconds{66'779}}));
  EXPECT_EQ(limits.tokens, (RateLimit{200'000, 199'961, milliseconds{11}}));
}

RateLimits requests(std::string limit, std::string remaining, std::string reset) {
  return parse_rate_limits({{"x-ratelimit-limit-requests", std::move(limit)},
                            {"x-ratelimit-remaining-requests", std::move(remaining)},
                            {"x-ratelimit-reset-requests", std::move(reset)}},
                           kNow);
}

TEST(RateLimitHeaders, AreNothingWhereTheyCannotBeMeant) {
  EXPECT_EQ(parse_rate_limits({}, kNow), RateLimits{});
  for (const char* bad : {"", "**REDACTED**", "-1", "nan", "inf", "1e999", "12x", " 12"}) {
    EXPECT_EQ(requests(bad, "1", "1s"), RateLimits{}) << bad;
    EXPECT_EQ(requests("10", bad, "1s"), RateLimits{}) << bad;
  }
  EXPECT_EQ(requests("0", "0", "1s"), RateLimits{});
  EXPECT_EQ(requests("10", "1", "soon"), RateLimits{});
}

TEST(RateLimitHeaders, StayWithinBounds) {
  EXPECT_EQ(requests("10", "99", "1s").requests, (RateLimit{10, 10, seconds{1}}));
  EXPECT_EQ(requests("10", "1", "9999-12-31T23:59:59Z").requests, (RateLimit{10, 1, hours{365 * 24}}));
  EXPECT_EQ(requests("10", "1", "0001-01-01T00:00:00Z").requests, (RateLimit{10, 1, seconds{0}}));
  EXPECT_EQ(requests("10", "1", "2015-10-21T07:28:00Z").requests, (RateLimit{10, 1, seconds{0}}));
}

TEST(RateLimitHeaders, SayWhenWhatIsUsedUpIsThereAgain) {
  EXPECT_EQ(time_until_refilled({{"anthropic-ratelimit-input-tokens-remaining", "0"},
                                 {"anthropic-ratelimit-input-tokens-reset", "2026-08-19T14:34:18Z"},
                                 {"anthropic-ratelimit-output-tokens-remaining", "0"},
                                 {"anthropic-ratelimit-output-tokens-reset", "2026-08-19T14:34:20Z"},
                                 {"anthropic-ratelimit-requests-remaining", "49"},
                                 {"anthropic-ratelimit-requests-reset", "2026-08-19T14:35:00Z"}},
                                kNow),
            seconds{20});
  EXPECT_EQ(time_until_refilled({{"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "6m0s"}},
                                kNow),
            seconds{360});
  EXPECT_EQ(time_until_refilled({{"x-ratelimit-remaining-tokens", "1"}, {"x-ratelimit-reset-tokens", "6m0s"}},
                                kNow),
            std::nullopt);
  EXPECT_EQ(time_until_refilled({{"x-ratelimit-remaining-tokens", "0"}}, kNow), std::nullopt);
}

}  // namespace
}  // namespace deputy
