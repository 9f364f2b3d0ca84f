// How fast requests may follow one another, found out as they go: pure bookkeeping, told the time. Where the
// provider says what is left, that is the pace. Else nobody is held up until a rejection shows a pace; then,
// now and then, one is sent too early: rejected, the limit stands; let in, the limit may be gone, and each
// that follows lets one more go at once. What may be turned down for that is a budget: much at first, then
// little, then about one in ten, so that it stays below that on the whole. docs/decisions/0009 has the
// figures. After a rejection nothing is sent until the provider wants to hear again, then one goes alone.
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
  TimePoint earliest(TimePoint now, std::int64_t tokens);
  // Says that one is sent, and gives it a number.
  std::uint64_t send(TimePoint now, std::int64_t tokens);
  void accepted(std::uint64_t number, const RateLimits& limits, TimePoint now);
  void rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now);
  // Nothing more will be heard of it.
  void forget(std::uint64_t number);

  TimePoint shut_until() const { return shut_until_; }
  // When the last was accepted of those that were not rejected after all.
  TimePoint last_accepted() const { return last_accepted_; }
  Duration interval() const { return interval_; }  // 0: as fast as they come

 private:
  struct Sent {
    TimePoint at{};
    std::uint64_t cuts = 0;  // that the pace had seen by then
    std::int64_t tokens = 0;
    Duration interval{};
    bool is_try = false;
    bool fills = false;  // it left no room for as many again
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
    std::uint64_t number = 0;  // the last that was sent by then
    std::uint64_t rejected = 0;
  };
  struct Measured {
    Duration interval{};
    double let_in = 0;
  };

  bool is_shut() const { return rejected_in_a_row_ > 0; }
  TimePoint next_try() const;
  TimePoint when_answered(TimePoint now) const;
  std::size_t unanswered(TimePoint now) const;
  void take_silence_for_consent(TimePoint now);
  void let_in(Sent& sent);
  void learn(std::uint64_t number, const RateLimits& limits);
  void slow_down_to(Duration gap);
  void speed_up();
  std::optional<Measured> measure(TimePoint at);
  void end_try(const std::optional<Measured>& measured);
  void cut(std::optional<Duration> retry_after, const std::optional<Measured>& measured);

  std::map<std::uint64_t, Sent> sent_;
  std::uint64_t next_number_ = 1;
  TimePoint last_sent_{};
  TimePoint last_accepted_{};
  std::optional<TimePoint> accepted_was_sent_;  // the last that was

  TimePoint shut_until_{};
  int rejected_in_a_row_ = 0;
  std::uint64_t cuts_ = 0;
  Duration soon_;  // a rejection comes by then, or not at all
  double most_unanswered_;
  double budget_;               // of rejections
  std::uint64_t accepted_ = 0;  // in all
  std::optional<Window> window_;

  Duration interval_{};
  Duration good_{};       // the last at which one was accepted
  double step_ = 0;       // by which it is shortened for each that is accepted, until it is known
  bool is_hint_ = false;  // the provider named it
  int accepted_since_cut_ = 0;
  TimePoint cut_at_{};
  std::optional<int> tried_;  // while the pace is not kept: how many were let in since

  std::uint64_t learned_from_ = 0;
  std::optional<Bucket> requests_;
  std::optional<Bucket> tokens_;
};

}  // namespace deputy
