// When a provider that declined a request wants it again. Whatever a header or a message says, a wait is
// never negative and never longer than kLongestWait; what cannot be meant is nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "net/network.h"

namespace deputy {

inline constexpr Duration kLongestWait = std::chrono::hours{365 * 24};

// retry-after-ms, else retry-after as seconds (fractions too) or as an HTTP date.
std::optional<Duration> retry_after(const HttpHeaders& headers, WallTime now);

// "48", "48.9s", "340ms", "6m0s", "1h2m3.5s": a number of seconds or amounts with their units.
std::optional<Duration> parse_wait(std::string_view text);

}  // namespace deputy
