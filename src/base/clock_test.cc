#include "base/clock.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

using namespace std::chrono_literals;

constexpr WallTime at(std::int64_t microseconds) { return WallTime{std::chrono::microseconds{microseconds}}; }

TEST(SystemClock, DoesNotRunBackwards) {
  const SystemClock clock;
  const TimePoint first = clock.now();
  EXPECT_LE(first, clock.now());
  EXPECT_GT(clock.wall(), at(1'700'000'000'000'000));
}

TEST(ManualClock, MovesOnlyForward) {
  ManualClock clock;
  const WallTime start = clock.wall();
  clock.advance(5s);
  clock.advance_to(TimePoint{3s});
  EXPECT_EQ(clock.now(), TimePoint{5s});
  EXPECT_EQ(clock.wall(), start + 5s);
}

TEST(ManualClock, AJumpOfTheWallLeavesTheMonotonicTimeAlone) {
  ManualClock clock;
  const WallTime start = clock.wall();
  clock.jump_wall(-1h);
  EXPECT_EQ(clock.now(), TimePoint{});
  EXPECT_EQ(clock.wall(), start - 1h);
}

TEST(Iso8601, WritesMicrosecondsInUtc) {
  EXPECT_EQ(to_iso8601(at(1'800'000'000'123'456)), "2027-01-15T08:00:00.123456Z");
  EXPECT_EQ(to_iso8601(at(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_iso8601(at(-1)), "1969-12-31T23:59:59.999999Z");
}

TEST(Iso8601, ReadsBackWhatItWrote) {
  for (const std::int64_t time : {0L, -1L, 951'782'400'000'000L, 1'800'000'000'123'456L}) {
    EXPECT_EQ(from_iso8601(to_iso8601(at(time))), at(time));
  }
}

TEST(Iso8601, ReadsFractionsAndOffsets) {
  EXPECT_EQ(from_iso8601("1970-01-01T00:00:01Z"), at(1'000'000));
  EXPECT_EQ(from_iso8601("1970-01-01T00:00:00.5Z"), at(500'000));
  EXPECT_EQ(from_iso8601("1970-01-01T00:00:00.123456789Z"), at(123'456));
  EXPECT_EQ(from_iso8601("1970-01-01T01:30:00+01:30"), at(0));
  EXPECT_EQ(from_iso8601("1969-12-31T23:00:00-01:00"), at(0));
  EXPECT_EQ(from_iso8601("2024-02-29T00:00:00Z"), at(1'709'164'800'000'000));
}

TEST(Iso8601, RefusesWhatIsNotATime) {
  for (const char* text :
       {"", "now", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z",
        "2023-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:60Z",
        "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.1234567890Z", "1970-01-01T00:00:00Zjunk",
        "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+0100", "-970-01-01T00:00:00Z"}) {
    EXPECT_EQ(from_iso8601(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, KnowsItsUnits) {
  EXPECT_EQ(parse_duration("250ms"), Duration{250ms});
  EXPECT_EQ(parse_duration("90s"), Duration{90s});
  EXPECT_EQ(parse_duration("5m"), Duration{5min});
  EXPECT_EQ(parse_duration("1h"), Duration{1h});
  EXPECT_EQ(parse_duration("2d"), Duration{48h});
  EXPECT_EQ(parse_duration("0s"), Duration{});
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "none", "5", "s", "-5s", "+5s", "1.5h", "5 s", "5S", "5sec", "1h30m", " 5s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, StopsWhereNanosecondsEnd) {
  EXPECT_EQ(parse_duration("106751d"), Duration{24h} * 106751);
  EXPECT_EQ(parse_duration("106752d"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999ms"), std::nullopt);
}

TEST(DurationText, IsAsShortAsItsSizeAllows) {
  EXPECT_EQ(to_text(Duration{}), "0ms");
  EXPECT_EQ(to_text(Duration{340ms}), "340ms");
  EXPECT_EQ(to_text(Duration{999ms}), "999ms");
  EXPECT_EQ(to_text(Duration{1s}), "1s");
  EXPECT_EQ(to_text(Duration{59s + 999ms}), "59s");
  EXPECT_EQ(to_text(Duration{60s}), "1m 00s");
  EXPECT_EQ(to_text(Duration{3min + 5s}), "3m 05s");
  EXPECT_EQ(to_text(Duration{1h - 1s}), "59m 59s");
  EXPECT_EQ(to_text(Duration{1h + 2min}), "1h 02m");
  EXPECT_EQ(to_text(Duration{-5s}), "-5s");
  EXPECT_EQ(to_text(Duration::min()), "-2562047h 47m");
}

}  // namespace
}  // namespace deputy
