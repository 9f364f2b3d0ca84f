// How fast requests may follow one another, found out as they go: pure bookkeeping, told the time. Where the
// provider says what is left, that is the pace. Else few go at once at first, and more as they are let in. A
// rejection shuts the gate until the provider wants to hear again, then one goes alone, and from then on they
// keep a pace. Now and then one goes with another, too early: rejected, the limit stands; let in, the limit
// may be gone, and each that follows lets more go at once. A try goes only when it can be turned down without
// more than a tenth being so, of some 350; what the start costs is lent. An overload that names no time says
// nothing of the pace, unless it turns down very many: after it few go at once, and more as they are let in,
// as at first. docs/decisions/0009 has the figures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "model/rate_limit_headers.h"

namespace deputy {

class Pace {
 public:
  // `at_once` may be out without an answer before anything is known.
  explicit Pace(int at_once = 1);
  // When the next may be sent, as far as is known at `now`; each outcome may change it.
  TimePoint earliest(TimePoint now, std::int64_t tokens);
  // Says that one is sent, and gives it a number.
  std::uint64_t send(TimePoint now, std::int64_t tokens);
  void accepted(std::uint64_t number, const RateLimits& limits, TimePoint now);
  // `is_overload`: not for what we ask, but for what all do.
  void rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now,
                bool is_overload = false);
  // Nothing more will be heard of it.
  void forget(std::uint64_t number);

  TimePoint shut_until() const { return shut_until_; }
  // When the last was accepted of those that were not rejected after all.
  TimePoint last_accepted() const { return last_accepted_; }
  Duration interval() const { return interval_; }  // 0: as fast as they come

 private:
  struct Sent {
    TimePoint at{};
    Duration gap{};  // to the one before
    std::uint64_t first_of_moment = 0;
    std::uint64_t cuts = 0;  // that the pace had seen by then
    std::int64_t tokens = 0;
    bool is_try = false;
    bool is_let_in = false;
    std::optional<TimePoint> accepted_at = std::nullopt;
    int rejected_before = 0;  // in a row, when it was accepted
  };
  // What the provider counts, as it last said.
  struct Bucket {
    double level = 0;
    double limit = 0;
    double per_second = 0;
    TimePoint at{};
    double level_at(TimePoint now) const;
    TimePoint when(double wanted, TimePoint now, TimePoint last_sent) const;
    void take(double amount, TimePoint now);
  };
  // From one rejection to another a limit lets in just what it allows.
  struct Window {
    TimePoint since{};
    std::uint64_t next_number = 0;
    std::uint64_t rejected = 0;
  };

  bool is_shut() const { return rejected_in_a_row_ > 0; }
  bool is_time_for_a_try(TimePoint now) const;
  TimePoint when_answered(TimePoint now) const;
  void take_silence_for_consent(TimePoint now);
  void let_in(Sent& sent);
  void learn(std::uint64_t number, const RateLimits& limits);
  void speed_up(Duration gap);
  void slow_down_to(Duration gap);
  std::optional<Duration> measure(const Sent& sent);
  void end_try(std::optional<Duration> measured);
  void cut(std::optional<Duration> retry_after, std::optional<Duration> measured);

  std::map<std::uint64_t, Sent> sent_;
  std::uint64_t next_number_ = 1;
  std::uint64_t silent_from_ = 1;  // all before it were let in, or have been heard of
  std::uint64_t first_of_moment_ = 1;
  TimePoint last_sent_{};
  TimePoint last_accepted_{};
  std::optional<TimePoint> accepted_was_sent_;  // the last that was

  TimePoint shut_until_{};
  int rejected_in_a_row_ = 0;
  std::uint64_t cuts_ = 0;
  TimePoint cut_at_{};
  Duration soon_;  // a rejection comes by then, or not at all
  double most_unanswered_;
  bool is_held_ = false;  // somebody waits until fewer are out without an answer

  Duration interval_{};
  std::optional<Duration> good_;  // while the pace is looked for: the shortest at which one was let in
  std::optional<Window> window_;
  double overloaded_ = 0;     // the share, of what was answered lately, that an overload turned down
  std::optional<int> tried_;  // while the pace is not kept: how many were let in since
  double try_from_;           // the number that may be one

  std::uint64_t learned_from_ = 0;
  std::optional<Bucket> requests_;
  std::optional<Bucket> tokens_;
};

}  // namespace deputy
