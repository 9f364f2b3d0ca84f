// What a provider says of its limits in the headers of an answer: anthropic-ratelimit-* and x-ratelimit-*.
// Pure; what cannot be meant is not there.
#pragma once

#include <optional>

#include "base/clock.h"
#include "net/network.h"

namespace deputy {

// One thing that is counted. The providers' buckets fill up steadily, and `full_in` is how long they need.
struct RateLimit {
  double limit = 0;
  double remaining = 0;
  Duration full_in{};
  bool operator==(const RateLimit&) const = default;
};

struct RateLimits {
  std::optional<RateLimit> requests;
  std::optional<RateLimit> tokens;  // the tightest of those on tokens
  bool operator==(const RateLimits&) const = default;
};

// `now` turns moments into durations.
RateLimits parse_rate_limits(const HttpHeaders& headers, WallTime now);

// How long until all that is used up is there again.
std::optional<Duration> time_until_refilled(const HttpHeaders& headers, WallTime now);

}  // namespace deputy
