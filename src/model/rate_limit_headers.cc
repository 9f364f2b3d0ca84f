#include "model/rate_limit_headers.h"

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

// What tells of one thing that is counted.
struct Names {
  std::string_view limit;
  std::string_view remaining;
  std::string_view reset;
};

namespace anthropic {
constexpr Names kRequests{"anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining",
                          "anthropic-ratelimit-requests-reset"};
constexpr Names kTokens{"anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
                        "anthropic-ratelimit-tokens-reset"};
constexpr Names kInput{"anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining",
                       "anthropic-ratelimit-input-tokens-reset"};
constexpr Names kOutput{"anthropic-ratelimit-output-tokens-limit",
                        "anthropic-ratelimit-output-tokens-remaining",
                        "anthropic-ratelimit-output-tokens-reset"};
}  // namespace anthropic

namespace openai {
constexpr Names kRequests{"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
                          "x-ratelimit-reset-requests"};
constexpr Names kTokens{"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
                        "x-ratelimit-reset-tokens"};
}  // namespace openai

std::optional<RateLimit> limit_of(const HttpHeaders& headers, const Names& names, WallTime now) {
  const auto most = amount(find_header(headers, names.limit));
  const auto left = amount(find_header(headers, names.remaining));
  const auto full_in = time_left(find_header(headers, names.reset), now);
  if (!most || !left || !full_in || *most < 1) return std::nullopt;
  return RateLimit{*most, std::min(*left, *most), *full_in};
}

std::optional<RateLimit> tighter(std::optional<RateLimit> a, std::optional<RateLimit> b) {
  if (!a || !b) return a ? a : b;
  return a->remaining <= b->remaining ? a : b;
}

}  // namespace

RateLimits parse_rate_limits(const HttpHeaders& headers, WallTime now) {
  const auto of = [&](const Names& names) { return limit_of(headers, names, now); };
  return {.requests = tighter(of(anthropic::kRequests), of(openai::kRequests)),
          .tokens = tighter(tighter(of(anthropic::kTokens), of(openai::kTokens)), of(anthropic::kInput))};
}

std::optional<Duration> time_until_refilled(const HttpHeaders& headers, WallTime now) {
  std::optional<Duration> longest;
  for (const Names& names : {anthropic::kRequests, anthropic::kTokens, anthropic::kInput, anthropic::kOutput,
                             openai::kRequests, openai::kTokens}) {
    if (amount(find_header(headers, names.remaining)) != 0) continue;
    const auto wait = time_left(find_header(headers, names.reset), now);
    if (wait) longest = std::max(longest.value_or(Duration{}), *wait);
  }
  return longest;
}

}  // namespace deputy
