#include "model/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace deputy {

namespace {

constexpr std::size_t kMostBytes = 64;  // nothing longer is a time

Duration within_bounds(double seconds) {
  const double longest = std::chrono::duration<double>(kLongestWait).count();
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, longest)));
}

std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// The seconds of a unit at the front; none at all means seconds.
std::optional<double> take_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array kUnits{Unit{"ms", 0.001}, Unit{"us", 0.000'001}, Unit{"ns", 0.000'000'001},
                                     Unit{"s", 1},      Unit{"m", 60},         Unit{"h", 3600},
                                     Unit{"d", 86'400}};
  if (text.empty()) return 1;
  const auto unit =
      std::ranges::find_if(kUnits, [&](const Unit& candidate) { return text.starts_with(candidate.name); });
  if (unit == kUnits.end()) return std::nullopt;
  text.remove_prefix(unit->name.size());
  return unit->seconds;
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<unsigned> month_named(std::string_view word) {
  static constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                            "jul", "aug", "sep", "oct", "nov", "dec"};
  const auto month = std::ranges::find(kMonths, lowered(word.substr(0, 3)));
  if (month == kMonths.end()) return std::nullopt;
  return static_cast<unsigned>(month - kMonths.begin()) + 1;
}

std::optional<std::chrono::seconds> time_of_day(std::string_view word) {
  const auto parts = split(word, ':');
  if (parts.size() != 3) return std::nullopt;
  const auto hours = whole_number(parts[0]);
  const auto minutes = whole_number(parts[1]);
  const auto seconds = whole_number(parts[2]);
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  return std::chrono::hours{*hours} + std::chrono::minutes{*minutes} + std::chrono::seconds{*seconds};
}

// The three spellings of HTTP dates differ in the order of their parts, and each part is known by its look:
// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994".
std::optional<WallTime> parse_http_date(std::string_view text) {
  std::optional<int> day;
  std::optional<int> year;
  std::optional<unsigned> month;
  std::optional<std::chrono::seconds> time;
  std::string words(text);
  std::ranges::replace_if(words, [](char c) { return c == ',' || c == '-' || c == '\t'; }, ' ');
  for (const std::string_view word : split(words, ' ')) {
    if (const auto number = whole_number(word)) {
      (day ? year : day) = number;
    } else if (const auto named = month_named(word)) {
      month = named;
    } else if (word.contains(':')) {
      time = time_of_day(word);
    }
  }
  if (!day || !month || !year || !time) return std::nullopt;
  if (*year < 100) *year += *year < 70 ? 2000 : 1900;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{*month},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (*day > 31 || *year > 9999 || !date.ok()) return std::nullopt;
  return WallTime{std::chrono::sys_days{date}.time_since_epoch() + *time};
}

}  // namespace

std::optional<Duration> parse_wait(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > kMostBytes) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    const auto unit = take_unit(text);
    if (!unit) return std::nullopt;
    seconds += *number * *unit;
  }
  return within_bounds(seconds);
}

std::optional<Duration> retry_after(const HttpHeaders& headers, WallTime now) {
  if (const auto value = find_header(headers, "retry-after-ms"); value && value->size() <= kMostBytes) {
    std::string_view text = trimmed(*value);
    if (const auto number = take_number(text); number && text.empty()) return within_bounds(*number / 1000);
  }
  const auto value = find_header(headers, "retry-after");
  if (!value || value->size() > kMostBytes) return std::nullopt;
  if (const auto wait = parse_wait(*value)) return wait;
  const auto date = parse_http_date(trimmed(*value));
  if (!date) return std::nullopt;
  // Clamped before it becomes nanoseconds, of which an int64 holds 292 years.
  using std::chrono::microseconds;
  return std::clamp<microseconds>(*date - now, microseconds{0}, duration_cast<microseconds>(kLongestWait));
}

}  // namespace deputy
