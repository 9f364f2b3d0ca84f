// How fast requests may follow one another, found out as they go: pure bookkeeping, told the time. Where the
// provider says what is left, that is the pace. Else the pace is cut by rejections, and now and then one
// request goes out early, to find out whether more is possible: so that no more than about one in ten is
// turned down. After a rejection nothing is sent until the provider wants to hear again, then one goes alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "model/rate_limit_headers.h"

namespace deputy {

class Pace {
 public:
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
    bool is_probe = false;
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
  };

  bool is_shut() const { return rejected_in_a_row_ > 0; }
  bool is_probe_next() const { return interval_ > Duration{} && (is_ramping_ || credit_ >= 1); }
  TimePoint when_confirmed(TimePoint now) const;
  void learn(std::optional<Bucket>& bucket, const std::optional<RateLimit>& limit, double in_flight,
             TimePoint now);
  void speed_up(const Sent& sent);
  void cut(const Sent& sent, std::optional<Duration> retry_after);

  std::map<std::uint64_t, Sent> sent_;
  std::uint64_t next_number_ = 1;
  TimePoint last_sent_{};
  TimePoint last_accepted_{};

  TimePoint shut_until_{};
  int rejected_in_a_row_ = 0;
  std::uint64_t cuts_ = 0;

  Duration interval_{};
  Duration known_{};  // the interval before it was sped up: what to go back to
  int accepted_since_cut_ = 0;
  bool is_ramping_ = false;
  double credit_ = 0;  // rejections that may still be risked
  double most_unconfirmed_ = 8;

  std::optional<Bucket> requests_;
  std::optional<Bucket> tokens_;
};

}  // namespace deputy
