#include "model/token_quota.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

TEST(TokenQuota, IsReadFromHeaders) {
  EXPECT_EQ(token_quota_in(HttpHeaders{{"x-ratelimit-limit-tokens", "30000"}}), (TokenQuota{30'000}));
  EXPECT_EQ(token_quota_in(HttpHeaders{{"anthropic-ratelimit-tokens-limit", "56000"},
                                       {"anthropic-ratelimit-input-tokens-limit", "40000"},
                                       {"anthropic-ratelimit-output-tokens-limit", "8000"}}),
            (TokenQuota{40'000, true}))
      << "an answer's tokens are not those of a request";
  EXPECT_FALSE(token_quota_in(HttpHeaders{{"anthropic-ratelimit-output-tokens-limit", "8000"}}));
}

TEST(TokenQuota, IsReadFromWhatOpenAiAndAnthropicSay) {
  EXPECT_EQ(token_quota_in("on tokens per min (tpm): limit 30000, used 18928, requested 11159. please"),
            (TokenQuota{30'000}));
  EXPECT_EQ(token_quota_in("the rate limit for your organization of 40,000 input tokens per minute."),
            (TokenQuota{40'000, true}));
  EXPECT_FALSE(token_quota_in("on requests per min (rpm): limit 500, used 500, requested 1."));
  EXPECT_FALSE(token_quota_in("of 8,000 output tokens per minute."));
  EXPECT_FALSE(token_quota_in("a number of input tokens per minute"));
}

TEST(TokenQuota, IsNothingWhereItCannotBeMeant) {
  for (const char* bad : {"", ",", "0", "-1", "1e9", "many", "99999999999999999999999999"}) {
    EXPECT_FALSE(token_quota_in(HttpHeaders{{"x-ratelimit-limit-tokens", bad}})) << bad;
    EXPECT_FALSE(token_quota_in("(tpm): limit " + std::string(bad))) << bad;
  }
}

TEST(TokenQuota, IsExceededByARequestThatIsLargerThanItAndByNoOther) {
  EXPECT_FALSE(is_larger_than_quota("on tokens per min (tpm): limit 30, requested 30."));
  EXPECT_TRUE(is_larger_than_quota("on tokens per min (tpm): limit 30, requested 31."));
  EXPECT_FALSE(is_larger_than_quota("on requests per min (rpm): limit 1, requested 2."));
}

}  // namespace
}  // namespace deputy
