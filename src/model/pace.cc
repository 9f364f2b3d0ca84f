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
constexpr Duration kFirstInterval = milliseconds{250};    // where a rejection says nothing else
constexpr Duration kLongestHint = seconds{5};  // a Retry-After up to here says something about the pace

constexpr double kRiskForEach = 0.1;  // success: one rejection for ten
constexpr double kMostCredit = 1.5;
constexpr double kUnconfirmedForEach = 3;  // success: from few to many in two or three rounds
constexpr double kMostUnconfirmed = 4096;
constexpr double kUnconfirmedAfterCut = 4;

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
  const double wait = per_second > 0 ? std::min(missing / per_second, longest) : longest;
  return now + duration_cast<Duration>(std::chrono::duration<double>(wait));
}

TimePoint Pace::earliest(TimePoint now, std::int64_t tokens) const {
  TimePoint when = std::max({now, shut_until_, when_confirmed(now)});
  if (interval_ > Duration{} && last_sent_ != TimePoint{}) {
    when = std::max(when, last_sent_ + (is_probe_next() && !is_ramping_ ? interval_ / 2 : interval_));
  }
  if (requests_) when = std::max(when, requests_->when(1, now));
  if (tokens_) when = std::max(when, tokens_->when(static_cast<double>(tokens), now));
  return when;
}

// When few enough are without an answer.
TimePoint Pace::when_confirmed(TimePoint now) const {
  const bool alone = is_shut() || is_ramping_;
  const Duration counts_for = alone ? kLongestAlone : kSoon;
  const std::size_t most = alone ? 1 : static_cast<std::size_t>(most_unconfirmed_);
  std::size_t unconfirmed = 0;
  TimePoint when = now;
  for (auto one = sent_.rbegin(); one != sent_.rend(); ++one) {  // the latest first
    const Sent& sent = one->second;
    if (sent.is_confirmed || sent.at + counts_for <= now) continue;
    if (alone && sent.cuts < cuts_) continue;  // it was let out before
    if (++unconfirmed == most) when = sent.at + counts_for;
  }
  return when;
}

std::uint64_t Pace::send(TimePoint now, std::int64_t tokens) {
  const std::uint64_t number = next_number_++;
  sent_[number] = {.at = now, .cuts = cuts_, .is_probe = !is_shut() && is_probe_next()};
  last_sent_ = now;
  for (auto* bucket : {&requests_, &tokens_}) {
    if (!*bucket) continue;
    Bucket& left = **bucket;
    left.level =
        std::max(0.0, left.level_at(now) - (bucket == &requests_ ? 1.0 : static_cast<double>(tokens)));
    left.at = now;
  }
  return number;
}

void Pace::accepted(std::uint64_t number, const RateLimits& limits, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end() || found->second.is_confirmed) return;
  found->second.is_confirmed = true;
  last_accepted_ = now;
  if (found->second.cuts == cuts_) rejected_in_a_row_ = 0;
  credit_ = std::min(credit_ + kRiskForEach, kMostCredit);
  most_unconfirmed_ = std::min(most_unconfirmed_ + kUnconfirmedForEach, kMostUnconfirmed);
  speed_up(found->second);
  const auto in_flight = static_cast<double>(std::ranges::count_if(
      sent_, [&](const auto& one) { return !one.second.is_confirmed && one.first > number; }));
  learn(requests_, limits.requests, in_flight, now);
  learn(tokens_, limits.tokens, 0, now);
}

void Pace::rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  const Sent sent = found->second;
  sent_.erase(found);
  credit_ -= 1;
  shut_until_ = std::max(shut_until_, now + retry_after.value_or(Duration{}));
  if (sent.cuts < cuts_) return;  // the pace was cut already since it was sent
  ++rejected_in_a_row_;
  ++cuts_;
  shut_until_ = std::max(shut_until_, now + shut_at_least(rejected_in_a_row_));
  if (rejected_in_a_row_ == 1) cut(sent, retry_after);  // the one that goes alone says nothing of the pace
}

void Pace::speed_up(const Sent& sent) {
  ++accepted_since_cut_;
  if (interval_ == Duration{}) return;
  if (!sent.is_probe) {
    interval_ = scaled(interval_, 0.997);
    return;
  }
  if (!is_ramping_) known_ = interval_;
  is_ramping_ = true;
  interval_ = interval_ / 4;
  if (interval_ >= kShortestInterval) return;
  interval_ = {};
  is_ramping_ = false;
}

void Pace::cut(const Sent& sent, std::optional<Duration> retry_after) {
  const bool is_settled = accepted_since_cut_ >= 3;
  accepted_since_cut_ = 0;
  most_unconfirmed_ = std::min(most_unconfirmed_, kUnconfirmedAfterCut);
  if (is_ramping_ || (interval_ == Duration{} && known_ > Duration{})) {
    interval_ = known_;  // it was too bold: back to what was good
  } else if (interval_ == Duration{}) {
    interval_ =
        retry_after && *retry_after <= kLongestHint ? std::max(*retry_after, kFirstInterval) : kFirstInterval;
  } else if (!sent.is_probe) {
    interval_ = std::min(scaled(interval_, is_settled ? 1.15 : 2.0), kLongestInterval);
  }
  is_ramping_ = false;
}

void Pace::learn(std::optional<Bucket>& bucket, const std::optional<RateLimit>& limit, double in_flight,
                 TimePoint now) {
  if (!limit) {
    bucket.reset();
    return;
  }
  const double used = limit->limit - limit->remaining;
  const double full_in = std::chrono::duration<double>(limit->full_in).count();
  double per_second = limit->limit / 60;  // most limits are by the minute
  if (used > 0 && full_in > 0) per_second = used / full_in;
  bucket = Bucket{std::max(0.0, limit->remaining - in_flight), limit->limit, per_second, now};
}

}  // namespace deputy
