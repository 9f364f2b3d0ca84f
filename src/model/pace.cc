#include "model/pace.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace deputy {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLongestSoon = seconds{2};
constexpr Duration kShortestSoon = milliseconds{250};
constexpr int kSoonForEach = 3;  // times as long as the last rejection took
// The one that goes alone may hang: others do not wait for it for ever.
constexpr Duration kLongestAlone = seconds{10};
constexpr Duration kLongestInterval = seconds{60};
// However long the provider wants to hear nothing: what it said may have been a mistake.
constexpr Duration kLongestShut = std::chrono::hours{1};
constexpr Duration kShortestInterval = milliseconds{20};  // below it there is no pace to keep
constexpr Duration kFirstInterval = milliseconds{500};    // where a rejection says nothing else
constexpr Duration kLongestHint = seconds{5};             // a wait up to here says something about the pace
// A request that comes a moment too soon is turned down like any other.
constexpr double kMargin = 1.05;

constexpr double kFirstStep = 0.06;
constexpr double kSmallestStep = 0.04;
constexpr double kSlower = 1.03;      // after a rejection at a pace that was known
constexpr double kMuchSlower = 1.15;  // where what was let in says so
constexpr double kFaster = 0.998;     // after a try: so that a pace that is too slow does not stay
constexpr double kMeasurable = 8;     // let in between two rejections, before that says something

// How many may be out without an answer: many, as long as nobody was turned down, then few; each that is let
// in lets more go.
constexpr double kFirstUnanswered = 64;
constexpr double kUnansweredAfterCut = 4;
constexpr double kUnansweredForEach = 2;
constexpr double kMostUnanswered = 4096;

constexpr Duration kTryAfter = seconds{10};
constexpr int kTryAfterAccepted = 4;
constexpr int kTriedAlone = 3;    // let in one by one before more go: a limit may have a few to spare
constexpr int kTriedEnough = 40;  // so many were let in: there is no such limit any more

// What may be turned down. Those that were sent together when the first of them was turned down use up their
// part of it and no more. Nothing is added to it until so many were let in that a tenth of them is more than
// all of it; from then on a tenth of each.
constexpr double kMostBudget = 34;
constexpr double kKeptForTries = 19;
constexpr double kLeastBudget = -1;
constexpr std::uint64_t kManyAccepted = 400;
constexpr double kBudgetForEach = 1.0 / 10;

Duration scaled(Duration duration, double factor) {
  return duration_cast<Duration>(std::chrono::duration<double>(duration) * factor);
}

// Half a second, growing by half for each rejection in a row up to 25 seconds: ten take about a minute.
Duration shut_at_least(int rejected_in_a_row) {
  return scaled(milliseconds{500}, std::min(std::pow(1.5, rejected_in_a_row - 1), 50.0));
}

}  // namespace

double Pace::Bucket::level_at(TimePoint now) const {
  const double passed = std::chrono::duration<double>(now - at).count();
  return std::min(limit, level + passed * per_second);
}

TimePoint Pace::Bucket::when(double wanted, TimePoint now, TimePoint last_sent) const {
  const double missing = std::min(wanted, limit) - level_at(now);
  if (missing <= 0) return now;
  // However slowly it fills, the provider is asked again a while after it last was: it may have changed its
  // mind.
  const TimePoint latest = std::max(now, last_sent + kLongestInterval);
  const double longest = std::chrono::duration<double>(kLongestInterval).count();
  const double wait = per_second > 0 ? std::min(kMargin * missing / per_second, longest) : longest;
  return std::min(latest, now + duration_cast<Duration>(std::chrono::duration<double>(wait)));
}

void Pace::Bucket::take(double amount, TimePoint now) {
  level = std::max(0.0, level_at(now) - amount);
  at = now;
}

Pace::Pace() : soon_(kLongestSoon), most_unanswered_(kFirstUnanswered), budget_(kMostBudget) {}

TimePoint Pace::earliest(TimePoint now, std::int64_t tokens) {
  take_silence_for_consent(now);
  if (now >= next_try()) {
    tried_ = 0;
    most_unanswered_ = 1;
  }
  TimePoint when = std::max({now, shut_until_, when_answered(now)});
  if (interval_ > Duration{} && !tried_) {
    when = std::max(when, std::min(last_sent_ + interval_, next_try()));
  }
  if (requests_) when = std::max(when, requests_->when(1, now, last_sent_));
  if (tokens_) when = std::max(when, tokens_->when(static_cast<double>(tokens), now, last_sent_));
  return when;
}

TimePoint Pace::next_try() const {
  const bool is_due = interval_ > Duration{} && !is_shut() && !tried_ && budget_ >= 1 &&
                      accepted_since_cut_ >= kTryAfterAccepted;
  return is_due ? cut_at_ + kTryAfter : TimePoint::max();
}

// Those that say how it stands now and have not been answered.
std::size_t Pace::unanswered(TimePoint now) const {
  const Duration counts_for = is_shut() ? kLongestAlone : soon_;
  return static_cast<std::size_t>(std::ranges::count_if(sent_, [&](const auto& one) {
    const Sent& sent = one.second;
    return !sent.is_let_in && sent.at + counts_for > now && (!is_shut() || sent.cuts == cuts_);
  }));
}

// When there are few enough of them.
TimePoint Pace::when_answered(TimePoint now) const {
  if (requests_ && !is_shut()) return now;  // then it is known how many may go
  const Duration counts_for = is_shut() ? kLongestAlone : soon_;
  const std::size_t most = is_shut() ? 1 : static_cast<std::size_t>(most_unanswered_);
  std::size_t unanswered = 0;
  for (auto one = sent_.rbegin(); one != sent_.rend(); ++one) {  // the latest first
    const Sent& sent = one->second;
    if (sent.is_let_in || sent.at + counts_for <= now || (is_shut() && sent.cuts < cuts_)) continue;
    if (++unanswered == most) return sent.at + counts_for;
  }
  return now;
}

void Pace::take_silence_for_consent(TimePoint now) {
  if (is_shut()) return;
  for (auto& [number, sent] : sent_) {
    if (!sent.is_let_in && sent.at + soon_ <= now) let_in(sent);
  }
}

void Pace::let_in(Sent& sent) {
  sent.is_let_in = true;
  if (sent.cuts < cuts_) return;  // it says nothing of the pace since
  if (!tried_) {
    if (sent.fills) most_unanswered_ = std::min(most_unanswered_ + kUnansweredForEach, kMostUnanswered);
    return;
  }
  if (!sent.is_try) return;
  if (++*tried_ > kTriedAlone) most_unanswered_ += 1;
  if (*tried_ < kTriedEnough) return;
  tried_.reset();
  interval_ = {};
}

std::uint64_t Pace::send(TimePoint now, std::int64_t tokens) {
  const double with_it = static_cast<double>(unanswered(now)) + 1;
  sent_[next_number_] = {.at = now,
                         .cuts = cuts_,
                         .tokens = tokens,
                         .interval = interval_,
                         .is_try = tried_.has_value(),
                         .fills = with_it * 2 > most_unanswered_};
  last_sent_ = now;
  if (requests_) requests_->take(1, now);
  if (tokens_) tokens_->take(static_cast<double>(tokens), now);
  return next_number_++;
}

void Pace::accepted(std::uint64_t number, const RateLimits& limits, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end() || found->second.accepted_at) return;
  Sent& sent = found->second;
  sent.accepted_at = now;
  if (++accepted_ > kManyAccepted) budget_ = std::min(budget_ + kBudgetForEach, kMostBudget);
  learn(number, limits);
  const std::optional<TimePoint> former = std::exchange(accepted_was_sent_, sent.at);
  if (sent.cuts < cuts_) {
    sent.is_let_in = true;
    return;
  }
  const bool went_alone = is_shut();
  if (went_alone && former) slow_down_to(sent.at - *former);
  sent.rejected_before = std::exchange(rejected_in_a_row_, 0);
  if (!sent.is_let_in) let_in(sent);
  ++accepted_since_cut_;
  if (!went_alone && !tried_ && sent.interval == interval_) speed_up();
}

// What was accepted and then rejected after all does not come here.
void Pace::forget(std::uint64_t number) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  last_accepted_ = std::max(last_accepted_, found->second.accepted_at.value_or(last_accepted_));
  sent_.erase(found);
}

// Where nothing else is known of the pace, it is what two who were let in had between them.
void Pace::slow_down_to(Duration gap) {
  const bool is_known = good_ > Duration{} || is_hint_;
  if (step_ == 0 || (is_known && rejected_in_a_row_ == 1)) return;
  interval_ = std::max(interval_, std::min(gap, kLongestHint));
}

void Pace::speed_up() {
  if (interval_ == Duration{} || step_ == 0) return;
  good_ = interval_;
  interval_ = scaled(interval_, 1 - step_);
  if (interval_ < kShortestInterval) interval_ = {};
}

void Pace::rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  const Sent sent = found->second;
  sent_.erase(found);
  soon_ = std::clamp(kSoonForEach * (now - sent.at), kShortestSoon, kLongestSoon);
  shut_until_ = std::max(shut_until_, now + std::min(retry_after.value_or(Duration{}), kLongestShut));
  if (window_) ++window_->rejected;
  const bool is_companion = sent.cuts < cuts_ && !sent.is_try;
  if (!is_companion || budget_ > kKeptForTries) budget_ = std::max(budget_ - 1, kLeastBudget);
  if (sent.cuts < cuts_) return;  // the pace was cut already since it was sent
  ++cuts_;
  cut_at_ = now;
  const std::optional<Measured> measured = measure(sent.at);
  if (tried_) return end_try(measured);
  // Others got through since it was accepted: the row that it belongs to has ended, and was paid for.
  const bool is_late = sent.rejected_before > 0 && sent.accepted_at && last_accepted_ > *sent.accepted_at;
  rejected_in_a_row_ = std::max(rejected_in_a_row_, is_late ? 0 : sent.rejected_before) + 1;
  shut_until_ = std::max(shut_until_, now + shut_at_least(rejected_in_a_row_));
  if (rejected_in_a_row_ == 1 && !is_late)
    cut(retry_after, measured);  // the one that goes alone says nothing of the pace
}

std::optional<Pace::Measured> Pace::measure(TimePoint at) {
  const std::uint64_t last = next_number_ - 1;
  std::optional<Measured> measured;
  if (window_) {
    const double let_in =
        static_cast<double>(last - window_->number) - static_cast<double>(window_->rejected);
    if (let_in < kMeasurable) return std::nullopt;
    measured = {.interval = scaled(at - window_->since, 1 / let_in), .let_in = let_in};
  }
  window_ = {.since = at, .number = last};
  return measured;
}

// The limit stands. It may have become wider: then more were let in than the pace allows.
void Pace::end_try(const std::optional<Measured>& measured) {
  const Duration surely = measured ? scaled(measured->interval, 1 + 1 / measured->let_in)
                                   : kLongestInterval;  // one may be by luck
  const bool is_wider = surely < scaled(interval_, 0.8);
  interval_ = is_wider ? std::max(surely, interval_ / 2) : scaled(interval_, kFaster);
  tried_.reset();
  accepted_since_cut_ = 0;
  most_unanswered_ = kUnansweredAfterCut;
}

void Pace::cut(std::optional<Duration> retry_after, const std::optional<Measured>& measured) {
  const Duration allowed = measured ? measured->interval : Duration{};
  if (interval_ == Duration{}) {
    is_hint_ = retry_after && *retry_after <= kLongestHint;
    interval_ = std::max(is_hint_ ? *retry_after : Duration{}, kFirstInterval);
    good_ = {};
    step_ = kFirstStep;
  } else if (step_ == 0) {
    interval_ = std::max(scaled(interval_, kSlower), std::min(allowed, scaled(interval_, kMuchSlower)));
  } else if (good_ == Duration{}) {
    interval_ *= 2;
  } else {
    const bool is_fine = step_ / 2 < kSmallestStep;
    interval_ = is_fine ? good_ : std::max(good_, std::min(allowed, scaled(good_, 1.5)));
    step_ = is_fine ? 0 : step_ / 2;
  }
  interval_ = std::min(interval_, kLongestInterval);
  accepted_since_cut_ = 0;
  most_unanswered_ = std::min(most_unanswered_, kUnansweredAfterCut);
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
