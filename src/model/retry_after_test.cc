#include "model/retry_after.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = *from_iso8601("2026-11-15T12:00:00Z");

std::optional<Duration> after(std::string value) {
  return retry_after({{"retry-after", std::move(value)}}, kNow);
}

TEST(RetryAfter, ReadsSecondsAndFractions) {
  EXPECT_EQ(after("16"), 16s);
  EXPECT_EQ(after("0"), 0s);
  EXPECT_EQ(after("0.1"), 100ms);
  EXPECT_EQ(after(" 2.5 "), 2500ms);
}

TEST(RetryAfter, PrefersMilliseconds) {
  EXPECT_EQ(retry_after({{"retry-after", "5"}, {"retry-after-ms", "1500"}}, kNow), 1500ms);
  EXPECT_EQ(retry_after({{"Retry-After-Ms", "0.5"}}, kNow), 500us);
  EXPECT_EQ(retry_after({{"retry-after-ms", "soon"}, {"retry-after", "5"}}, kNow), 5s);
}

TEST(RetryAfter, ReadsEveryFormOfAnHttpDate) {
  EXPECT_EQ(after("Sun, 15 Nov 2026 12:00:30 GMT"), 30s);
  EXPECT_EQ(after("Sunday, 15-Nov-26 12:00:30 GMT"), 30s);
  EXPECT_EQ(after("Sun Nov 15 12:00:30 2026"), 30s);
  EXPECT_EQ(after("Sun, 15 Nov 2026 13:00:00 GMT"), 1h);
}

TEST(RetryAfter, KeepsWithinAYear) {
  EXPECT_EQ(after("86400"), 24h);
  EXPECT_EQ(after("31536000"), 24h * 365);
  EXPECT_EQ(after("31536001"), 24h * 365);
  EXPECT_EQ(after("1e300"), 24h * 365);
  EXPECT_EQ(after("-5"), 0s);
  EXPECT_EQ(after("Wed, 21 Oct 2015 07:28:00 GMT"), 0s);
  EXPECT_EQ(after("Sun, 15 Nov 2026 13:00:01 GMT"), 1h + 1s);
  EXPECT_EQ(after("Fri, 31 Dec 9999 23:59:59 GMT"), 24h * 365);
  EXPECT_EQ(retry_after({{"retry-after-ms", "1e13"}}, kNow), 24h * 365);
  EXPECT_EQ(retry_after({{"retry-after-ms", "-1"}}, kNow), 0s);
}

TEST(RetryAfter, IsNothingWhereNothingCanBeMeant) {
  EXPECT_EQ(retry_after({}, kNow), std::nullopt);
  for (const char* value : {"", " ", "NaN", "inf", "1e309", "soon", "5 apples", "31 Feb 2026 12:00:00 GMT",
                            "Sun, 15 Nov 2026 25:00:00 GMT", "15 Nov 2026", "4000000000 Nov 2026 12:00:00"}) {
    EXPECT_EQ(after(value), std::nullopt) << value;
  }
  EXPECT_EQ(after(std::string(20'000, '9')), std::nullopt);
}

TEST(ParseWait, ReadsAmountsWithTheirUnits) {
  EXPECT_EQ(parse_wait("48s"), 48s);
  EXPECT_EQ(parse_wait("34.4s"), 34400ms);
  EXPECT_EQ(parse_wait("340ms"), 340ms);
  EXPECT_EQ(parse_wait("6m0s"), 6min);
  EXPECT_EQ(parse_wait("1m30.5s"), 90500ms);
  EXPECT_EQ(parse_wait("7"), 7s);
  EXPECT_EQ(parse_wait("2d"), 48h);
  EXPECT_EQ(parse_wait("3x"), std::nullopt);
  EXPECT_EQ(parse_wait("s"), std::nullopt);
  EXPECT_EQ(parse_wait(""), std::nullopt);
}

}  // namespace
}  // namespace deputy
