#include "model/rate_limit_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "model/retry_after.h"

namespace deputy {

namespace {

std::optional<double> amount(std::optional<std::string_view> text) {
  double number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  if (!std::isfinite(number) || number < 0) return std::nullopt;
  return number;
}

// A moment, as Anthropic says it, or a span like "1m6.779s", as OpenAI does.
std::optional<Duration> time_left(std::optional<std::string_view> text, WallTime now) {
  if (!text) return std::nullopt;
  if (const auto moment = from_iso8601(*text)) {
    using std::chrono::microseconds;  // nanoseconds would not reach the year 9999
    return std::clamp<microseconds>(*moment - now, microseconds{},
                                    std::chrono::duration_cast<microseconds>(kLongestWait));
  }
  return parse_wait(*text);
}

std::optional<RateLimit> limit_of(const HttpHeaders& headers, std::string_view limit,
                                  std::string_view remaining, std::string_view reset, WallTime now) {
  const auto most = amount(find_header(headers, limit));
  const auto left = amount(find_header(headers, remaining));
  const auto full_in = time_left(find_header(headers, reset), now);
  if (!most || !left || !full_in || *most < 1) return std::nullopt;
  return RateLimit{*most, std::min(*left, *most), *full_in};
}

std::optional<RateLimit> anthropic(const HttpHeaders& headers, std::string_view counted, WallTime now) {
  const auto name = [&](std::string_view part) {
    return fmt::format("anthropic-ratelimit-{}-{}", counted, part);
  };
  return limit_of(headers, name("limit"), name("remaining"), name("reset"), now);
}

std::optional<RateLimit> openai(const HttpHeaders& headers, std::string_view counted, WallTime now) {
  const auto name = [&](std::string_view part) { return fmt::format("x-ratelimit-{}-{}", part, counted); };
  return limit_of(headers, name("limit"), name("remaining"), name("reset"), now);
}

std::optional<RateLimit> tighter(std::optional<RateLimit> a, std::optional<RateLimit> b) {
  if (!a || !b) return a ? a : b;
  return a->remaining <= b->remaining ? a : b;
}

}  // namespace

RateLimits parse_rate_limits(const HttpHeaders& headers, WallTime now) {
  RateLimits limits{
      .requests = tighter(anthropic(headers, "requests", now), openai(headers, "requests", now)),
      .tokens = tighter(anthropic(headers, "tokens", now), openai(headers, "tokens", now))};
  limits.tokens = tighter(limits.tokens, anthropic(headers, "input-tokens", now));
  return limits;
}

std::optional<Duration> time_until_refilled(const HttpHeaders& headers, WallTime now) {
  std::optional<Duration> longest;
  const auto look_at = [&](const std::string& remaining, const std::string& reset) {
    if (amount(find_header(headers, remaining)) != 0) return;
    const auto wait = time_left(find_header(headers, reset), now);
    if (wait) longest = std::max(longest.value_or(Duration{}), *wait);
  };
  for (const std::string_view counted : {"requests", "tokens", "input-tokens", "output-tokens"}) {
    look_at(fmt::format("x-ratelimit-remaining-{}", counted), fmt::format("x-ratelimit-reset-{}", counted));
    look_at(fmt::format("anthropic-ratelimit-{}-remaining", counted),
            fmt::format("anthropic-ratelimit-{}-reset", counted));
  }
  return longest;
}

}  // namespace deputy
