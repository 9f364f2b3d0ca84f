// Whether a request that failed is made again, and when: pure decisions. A definite error never is; what may
// pass is tried with growing, jittered waits until patience ends; waiting for a rate limit does not count,
// but has an end too.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/random.h"
#include "model/dialect.h"

namespace deputy {

struct Patience {
  int attempts = 8;
  Duration total = std::chrono::minutes{5};
  Duration first_wait = std::chrono::seconds{1};  // doubled for each failure in a row
  Duration longest_wait = std::chrono::seconds{60};
  Duration longest_wait_to_reach = std::chrono::seconds{60};  // where no connection comes about
  // A rate limit that wants more than this at once is a failure: whoever asked should know now, not later.
  Duration longest_rate_limit = std::chrono::minutes{15};
  // And so is one that lets nothing through for so long.
  Duration total_rate_limited = std::chrono::hours{1};
  // Requests to a server of which nothing is known yet: it may have a limit.
  int at_once = 1;
};

// The usual, but for a server on this machine: it runs or it does not, and whoever asked can start it. So its
// attempts are made within seconds. It hardly limits who asks.
Patience patience_with(std::string_view base_url);

// What one request has been through.
struct Tried {
  int failed = 0;                           // attempts, those that were rate limited not counted
  int unusable = 0;                         // of them, those after which more will hardly help
  Duration spent{};                         // on them and on the waits between them
  std::optional<TimePoint> rejected_since;  // the first time
  Duration rate_limited{};                  // for how long nobody's request was let through

  void count_failure(const Failure& failure, Duration lasted) {
    ++failed;
    if (failure.most_attempts) ++unusable;
    spent += lasted;
  }
  void count_rejection(TimePoint now, TimePoint last_accepted) {
    if (!rejected_since) rejected_since = now;
    rate_limited = now - std::max(*rejected_since, last_accepted);
  }
};

struct TryAgain {
  Duration wait{};  // before it gets in line; a rate limit is waited for in line
};
struct GiveUp {
  std::string why;  // for people
};
using Retry = std::variant<TryAgain, GiveUp>;

// Of a rate limit that is not waited for, for people.
std::string wants_no_request(Duration wait);

// The tokens of a request, and how many of them a cache may hold.
struct Weight {
  std::int64_t tokens = 0;
  std::int64_t cached = 0;
  bool may_be_far_less = false;  // nobody has counted any of it: it is estimated by its text alone
};
// What the failure means to a request of this weight: one that is larger than the quota it was turned down
// for, however far off its estimate may be, does not fit, however long it waits.
Failure weighed(Failure failure, const Weight& weight);

// `tried` includes the failure.
Retry after_failure(const Failure& failure, const Tried& tried, const Patience& patience, Random& random);

}  // namespace deputy
