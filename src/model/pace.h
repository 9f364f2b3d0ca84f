// How fast requests may follow one another, found out as they go: pure bookkeeping, told the time. Where the
// provider says what is left, that is the pace. Else it is found by rejections: they cut it, and once it
// has held for a while a faster one is tried, so that less than one in ten is turned down.
// After a rejection nothing is sent until the provider wants to hear again, then one goes alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "model/rate_limit_headers.h"

namespace deputy {

class Pace {
 public:
  Pace();
  // When the next may be sent, as far as is known at `now`; each outcome may change it.
  TimePoint earliest(TimePoint now, std::int64_t tokens) const;
  // Says that one is sent, and gives it a number.
  std::uint64_t send(TimePoint now, std::int64_t tokens);
  void accepted(std::uint64_t number, const RateLimits& limits, TimePoint now);
  void rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now);
  // Nothing more will be heard of it.
  void forget(std::uint64_t number) { sent_.erase(number); }

  TimePoint shut_until() const { return shut_until_; }
  TimePoint last_accepted() const { return last_accepted_; }
  Duration interval() const { return interval_; }  // 0: as fast as they come

 private:
  struct Sent {
    TimePoint at{};
    std::uint64_t cuts = 0;  // that the pace had seen by then
    std::int64_t tokens = 0;
    bool is_confirmed = false;
  };
  // What the provider counts, as it last said.
  struct Bucket {
    double level = 0;
    double limit = 0;
    double per_second = 0;
    TimePoint at{};
    double level_at(TimePoint now) const;
    TimePoint when(double wanted, TimePoint now) const;
    void take(double amount, TimePoint now);
  };

  bool is_shut() const { return rejected_in_a_row_ > 0; }
  bool is_hurrying() const;
  TimePoint when_confirmed(TimePoint now) const;
  void learn(std::uint64_t number, const RateLimits& limits);
  void speed_up();
  void cut(std::optional<Duration> retry_after);

  std::map<std::uint64_t, Sent> sent_;
  std::uint64_t next_number_ = 1;
  TimePoint last_sent_{};
  TimePoint last_accepted_{};

  TimePoint shut_until_{};
  int rejected_in_a_row_ = 0;
  std::uint64_t cuts_ = 0;

  Duration interval_{};
  Duration steady_{};        // what it was before it was tried to go faster
  bool is_settled_ = false;  // it held for a while
  int accepted_since_cut_ = 0;
  double most_unconfirmed_;

  std::uint64_t learned_from_ = 0;
  std::optional<Bucket> requests_;
  std::optional<Bucket> tokens_;
};

}  // namespace deputy
