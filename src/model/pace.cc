#include "model/pace.h"

#include <algorithm>
#include <cmath>

namespace deputy {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A rejection comes soon or not at all: what has no answer for so long is taken to have been let in.
constexpr Duration kSoon = seconds{2};
// The one that goes alone may hang: others do not wait for it for ever.
constexpr Duration kLongestAlone = seconds{10};
constexpr Duration kLongestInterval = seconds{60};
constexpr Duration kShortestInterval = milliseconds{20};  // below it there is no pace to keep
constexpr Duration kFirstInterval = milliseconds{500};    // where a rejection says nothing else
// A request that comes a moment too soon is turned down like any other.
constexpr double kMargin = 1.05;
constexpr Duration kLongestHint = seconds{5};  // a Retry-After up to here says something about the pace

// So many are accepted at one pace before a faster one is tried: about one in fifteen is turned down for it.
constexpr int kSteadyFor = 14;
// How many may be out without an answer: few, as long as nothing is known; each success lets more go.
constexpr double kFirstUnconfirmed = 8;
constexpr double kUnconfirmedAfterCut = 4;
constexpr double kUnconfirmedForEach = 3;
constexpr double kMostUnconfirmed = 4096;

Duration scaled(Duration duration, double factor) {
  return duration_cast<Duration>(std::chrono::duration<double>(duration) * factor);
}

// Half a second, growing by half for each rejection in a row: ten take about a minute.
Duration shut_at_least(int rejected_in_a_row) {
  return scaled(milliseconds{500}, std::min(std::pow(1.5, rejected_in_a_row - 1), 40.0));
}

}  // namespace

double Pace::Bucket::level_at(TimePoint now) const {
  const double passed = std::chrono::duration<double>(now - at).count();
  return std::min(limit, level + passed * per_second);
}

TimePoint Pace::Bucket::when(double wanted, TimePoint now) const {
  const double missing = std::min(wanted, limit) - level_at(now);
  if (missing <= 0) return now;
  // However slowly it fills, the provider is asked again after a while: it may have changed its mind.
  const double longest = std::chrono::duration<double>(kLongestInterval).count();
  const double wait = per_second > 0 ? std::min(kMargin * missing / per_second, longest) : longest;
  return now + duration_cast<Duration>(std::chrono::duration<double>(wait));
}

void Pace::Bucket::take(double amount, TimePoint now) {
  level = std::max(0.0, level_at(now) - amount);
  at = now;
}

Pace::Pace() : most_unconfirmed_(kFirstUnconfirmed) {}

TimePoint Pace::earliest(TimePoint now, std::int64_t tokens) const {
  TimePoint when = std::max({now, shut_until_, when_confirmed(now)});
  if (interval_ > Duration{}) when = std::max(when, last_sent_ + interval_);
  if (requests_) when = std::max(when, requests_->when(1, now));
  if (tokens_) when = std::max(when, tokens_->when(static_cast<double>(tokens), now));
  return when;
}

// When few enough are without an answer.
TimePoint Pace::when_confirmed(TimePoint now) const {
  const Duration counts_for = is_shut() ? kLongestAlone : kSoon;
  const std::size_t most = is_shut() ? 1 : static_cast<std::size_t>(most_unconfirmed_);
  std::size_t unconfirmed = 0;
  for (auto one = sent_.rbegin(); one != sent_.rend(); ++one) {  // the latest first
    const Sent& sent = one->second;
    if (sent.is_confirmed || sent.at + counts_for <= now) continue;
    if (is_shut() && sent.cuts < cuts_) continue;  // it was let out before
    if (++unconfirmed == most) return sent.at + counts_for;
  }
  return now;
}

std::uint64_t Pace::send(TimePoint now, std::int64_t tokens) {
  sent_[next_number_] = {.at = now, .cuts = cuts_, .tokens = tokens};
  last_sent_ = now;
  if (requests_) requests_->take(1, now);
  if (tokens_) tokens_->take(static_cast<double>(tokens), now);
  return next_number_++;
}

void Pace::accepted(std::uint64_t number, const RateLimits& limits, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end() || found->second.is_confirmed) return;
  found->second.is_confirmed = true;
  last_accepted_ = now;
  learn(number, limits);
  if (found->second.cuts < cuts_) return;  // it says nothing of the pace since
  rejected_in_a_row_ = 0;
  most_unconfirmed_ = std::min(most_unconfirmed_ + kUnconfirmedForEach, kMostUnconfirmed);
  speed_up();
}

void Pace::rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  const std::uint64_t cuts_then = found->second.cuts;
  sent_.erase(found);
  shut_until_ = std::max(shut_until_, now + retry_after.value_or(Duration{}));
  if (cuts_then < cuts_) return;  // the pace was cut already since it was sent
  ++cuts_;
  ++rejected_in_a_row_;
  shut_until_ = std::max(shut_until_, now + shut_at_least(rejected_in_a_row_));
  if (rejected_in_a_row_ == 1) cut(retry_after);  // the one that goes alone says nothing of the pace
}

bool Pace::is_hurrying() const { return steady_ > Duration{} && interval_ < steady_; }

void Pace::speed_up() {
  ++accepted_since_cut_;
  if (interval_ == Duration{} || accepted_since_cut_ <= kSteadyFor) return;
  is_settled_ = true;
  if (!is_hurrying()) steady_ = interval_;
  interval_ /= 4;
  if (interval_ >= kShortestInterval) return;
  interval_ = {};
  most_unconfirmed_ = kUnconfirmedAfterCut;
}

void Pace::cut(std::optional<Duration> retry_after) {
  if (is_hurrying()) {
    // Back to what was good, and a little faster; more so where it took some time to be turned down.
    interval_ = scaled(steady_, accepted_since_cut_ > kSteadyFor + 2 ? 0.9 : 0.995);
  } else if (interval_ == Duration{}) {
    const bool says_pace = retry_after && *retry_after <= kLongestHint;
    is_settled_ = false;
    interval_ = says_pace ? std::max(*retry_after, kFirstInterval) : kFirstInterval;
  } else {
    interval_ = std::min(scaled(interval_, is_settled_ ? 1.06 : 2.0), kLongestInterval);
  }
  steady_ = interval_;
  accepted_since_cut_ = 0;
  most_unconfirmed_ = std::min(most_unconfirmed_, kUnconfirmedAfterCut);
}

// What it says of the moment when the request came to it: what was sent since is gone from it too.
void Pace::learn(std::uint64_t number, const RateLimits& limits) {
  if (number < learned_from_) return;
  learned_from_ = number;
  const auto bucket = [&](const std::optional<RateLimit>& limit) -> std::optional<Bucket> {
    if (!limit) return std::nullopt;
    const double used = limit->limit - limit->remaining;
    const double full_in = std::chrono::duration<double>(limit->full_in).count();
    const double per_second =
        used > 0 && full_in > 0 ? used / full_in : limit->limit / 60;  // most are by the minute
    return Bucket{limit->remaining, limit->limit, per_second, sent_.at(number).at};
  };
  requests_ = bucket(limits.requests);
  tokens_ = bucket(limits.tokens);
  for (auto later = sent_.upper_bound(number); later != sent_.end(); ++later) {
    if (requests_) requests_->take(1, later->second.at);
    if (tokens_) tokens_->take(static_cast<double>(later->second.tokens), later->second.at);
  }
}

}  // namespace deputy
