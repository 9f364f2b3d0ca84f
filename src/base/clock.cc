#include "base/clock.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdint>
#include <ctime>

namespace deputy {

using std::chrono::microseconds;
using std::chrono::seconds;

TimePoint SystemClock::now() const { return std::chrono::steady_clock::now(); }

WallTime SystemClock::wall() const {
  return std::chrono::time_point_cast<microseconds>(std::chrono::system_clock::now());
}

std::string to_iso8601(WallTime time) {
  const auto whole = std::chrono::floor<seconds>(time);
  const std::time_t since_epoch = whole.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&since_epoch, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, (time - whole).count());
}

namespace {

// Takes exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<microseconds> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return microseconds{0};
  std::size_t digits = 0;
  std::int64_t value = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
    if (digits < 6) value = value * 10 + (text.front() - '0');
  }
  if (digits == 0 || digits > 9) return std::nullopt;
  for (; digits < 6; ++digits) value *= 10;
  return microseconds{value};
}

std::optional<seconds> take_zone(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return seconds{0};
  const bool west = !text.empty() && text.front() == '-';
  if (!west && (text.empty() || text.front() != '+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_number(text, 2);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const seconds offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return west ? -offset : offset;
}

}  // namespace

std::optional<WallTime> from_iso8601(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || !(take(text, 'T') || take(text, ' '))) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return std::nullopt;

  std::tm parts{};
  parts.tm_year = *year - 1900;
  parts.tm_mon = *month - 1;
  parts.tm_mday = *day;
  parts.tm_hour = *hour;
  parts.tm_min = *minute;
  parts.tm_sec = *second;
  const std::time_t since_epoch = timegm(&parts);
  // timegm turns 30 February into 2 March; a date that was moved was never a date.
  if (parts.tm_mon != *month - 1 || parts.tm_mday != *day) return std::nullopt;
  return WallTime{seconds{since_epoch} - *zone + *fraction};
}

std::optional<Duration> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));

  Duration unit{};
  if (text == "ms") {
    unit = std::chrono::milliseconds{1};
  } else if (text == "s") {
    unit = seconds{1};
  } else if (text == "m") {
    unit = std::chrono::minutes{1};
  } else if (text == "h") {
    unit = std::chrono::hours{1};
  } else if (text == "d") {
    unit = std::chrono::hours{24};
  } else {
    return std::nullopt;
  }
  std::int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(count, unit.count(), &nanoseconds)) return std::nullopt;
  return Duration{nanoseconds};
}

std::string to_text(Duration duration) {
  if (duration < Duration{}) {
    // The smallest duration has no positive counterpart.
    return "-" + to_text(duration == Duration::min() ? Duration::max() : -duration);
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  const auto in_seconds = milliseconds / 1000;
  if (in_seconds < 1) return fmt::format("{}ms", milliseconds);
  if (in_seconds < 60) return fmt::format("{}s", in_seconds);
  if (in_seconds < 3600) return fmt::format("{}m {:02}s", in_seconds / 60, in_seconds % 60);
  return fmt::format("{}h {:02}m", in_seconds / 3600, in_seconds / 60 % 60);
}

}  // namespace deputy
