#include "model/pace.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace deputy {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A rejection comes soon, or not at all: at first it is not known how soon.
constexpr Duration kFirstSoon = milliseconds{500};
constexpr Duration kLongestSoon = seconds{2};
constexpr Duration kShortestSoon = milliseconds{150};
constexpr int kSoonForEach = 2;  // times as long as the last rejection took
// The one that goes alone may hang: others do not wait for it for ever.
constexpr Duration kLongestAlone = seconds{10};
constexpr Duration kLongestInterval = seconds{60};
// However long the provider wants to hear nothing: what it said may have been a mistake.
constexpr Duration kLongestShut = std::chrono::hours{1};
constexpr Duration kShortestInterval = milliseconds{20};  // below it there is no pace to keep
constexpr Duration kFirstInterval = seconds{1};           // where a rejection says nothing else
constexpr Duration kLongestHint = seconds{5};             // a wait up to here says something about the pace
// A request that comes a moment too soon is turned down like any other.
constexpr double kMargin = 1.02;
constexpr double kFaster = 0.9;    // for each that is let in, while the pace is looked for
constexpr double kSlower = 1.05;   // after a rejection at a pace that was known
constexpr double kMeasurable = 8;  // let in between two rejections, before that says something

// Where overloads turn down more than this share of the last few dozen they are a limit by another name.
// Where they turn down one in ten at random, that is hardly ever so.
constexpr double kMostOverloaded = 0.25;
constexpr double kOverloadedOf = 32;

// How many may be out without an answer while others wait: more as they are let in, few after a rejection.
constexpr double kFewUnanswered = 1;
constexpr double kUnansweredForEach = 0.5;
constexpr double kMostUnanswered = 4096;

// Nine requests at one a second, less what a rejection takes to come: else a tenth would be waited for.
constexpr Duration kTryAfter = milliseconds{8900};
// Of so many one may be turned down: a try waits until it can be afforded, but not for all of a storm. What
// is more than ten pays, over some 350 requests, for those that were lent for the start: it costs two or
// three.
constexpr double kSentForEachRejected = 10.6;
constexpr double kSentLent = 11;
constexpr double kLongestUntilTry = 100;
constexpr int kTriedAlone = 2;  // let in one by one before more go: a limit may have one to spare
constexpr int kOpenedForEach = 2;
constexpr int kTriedEnough = 14;  // so many were let in: there is no such limit any more

Duration scaled(Duration duration, double factor) {
  return duration_cast<Duration>(std::chrono::duration<double>(duration) * factor);
}

// Half a second, growing by half for each rejection in a row up to two minutes: ten take about a minute, and
// seventeen ten minutes.
Duration shut_at_least(int rejected_in_a_row) {
  return scaled(milliseconds{500}, std::min(std::pow(1.5, rejected_in_a_row - 1), 240.0));
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

Pace::Pace(int at_once) : soon_(kFirstSoon), most_unanswered_(at_once), try_from_(-kSentLent) {}

TimePoint Pace::earliest(TimePoint now, std::int64_t tokens) {
  take_silence_for_consent(now);
  const TimePoint answered = when_answered(now);
  is_held_ = answered > now;
  TimePoint when = std::max({now, shut_until_, answered});
  if (interval_ > Duration{} && !tried_) when = std::max(when, last_sent_ + interval_);
  if (requests_) when = std::max(when, requests_->when(1, now, last_sent_));
  if (tokens_) when = std::max(when, tokens_->when(static_cast<double>(tokens), now, last_sent_));
  return when;
}

bool Pace::is_time_for_a_try(TimePoint now) const {
  return interval_ > Duration{} && !is_shut() && !tried_ && now - cut_at_ >= kTryAfter &&
         static_cast<double>(next_number_) >= try_from_;
}

// When few enough are out whose answer says how it stands now.
TimePoint Pace::when_answered(TimePoint now) const {
  if (requests_ && !is_shut()) return now;  // then it is known how many may go
  const Duration counts_for = is_shut() ? kLongestAlone : soon_;
  const std::size_t most = is_shut() ? 1 : static_cast<std::size_t>(most_unanswered_);
  if (sent_.size() < most) return now;
  std::size_t unanswered = 0;
  for (auto one = sent_.rbegin(); one != sent_.rend(); ++one) {  // the latest first
    const Sent& sent = one->second;
    const bool says_nothing = (is_shut() && sent.cuts < cuts_) || (tried_ && !sent.is_try);
    if (says_nothing || sent.is_let_in || sent.at + counts_for <= now) continue;
    if (++unanswered == most) return sent.at + counts_for;
  }
  return now;
}

void Pace::take_silence_for_consent(TimePoint now) {
  if (is_shut()) return;
  for (auto one = sent_.lower_bound(silent_from_); one != sent_.end(); ++one) {
    auto& [number, sent] = *one;
    if (sent.at + soon_ > now) return;
    if (!sent.is_let_in) let_in(sent);
    silent_from_ = number + 1;
  }
}

void Pace::let_in(Sent& sent) {
  sent.is_let_in = true;
  if (sent.cuts < cuts_) return;  // it says nothing of the pace since
  if (!tried_) {
    if (is_held_) most_unanswered_ = std::min(most_unanswered_ + kUnansweredForEach, kMostUnanswered);
    return;
  }
  if (!sent.is_try) return;
  if (++*tried_ >= kTriedAlone) most_unanswered_ += kOpenedForEach;
  if (*tried_ < kTriedEnough) return;
  tried_.reset();
  interval_ = {};
}

std::uint64_t Pace::send(TimePoint now, std::int64_t tokens) {
  const std::uint64_t number = next_number_++;
  if (now != last_sent_) first_of_moment_ = number;
  sent_[number] = {.at = now,
                   .gap = now - last_sent_,
                   .first_of_moment = first_of_moment_,
                   .cuts = cuts_,
                   .tokens = tokens,
                   .is_try = tried_.has_value()};
  last_sent_ = now;
  if (requests_) requests_->take(1, now);
  if (tokens_) tokens_->take(static_cast<double>(tokens), now);
  if (is_time_for_a_try(now)) {  // with this one: where the limit stands, nothing is left for another
    tried_ = 0;
    most_unanswered_ = 1;
  }
  return number;
}

void Pace::accepted(std::uint64_t number, const RateLimits& limits, TimePoint now) {
  const auto found = sent_.find(number);
  if (found == sent_.end() || found->second.accepted_at) return;
  Sent& sent = found->second;
  sent.accepted_at = now;
  overloaded_ -= overloaded_ / kOverloadedOf;
  learn(number, limits);
  const std::optional<TimePoint> former = std::exchange(accepted_was_sent_, sent.at);
  if (sent.cuts < cuts_) {
    sent.is_let_in = true;
    return;
  }
  const bool went_alone = is_shut();
  const bool has_pace = interval_ > Duration{};
  if (has_pace && rejected_in_a_row_ > 1 && former) slow_down_to(sent.at - *former);
  sent.rejected_before = std::exchange(rejected_in_a_row_, 0);
  if (!sent.is_let_in) let_in(sent);
  if (!went_alone && good_ && !tried_) speed_up(sent.gap);
}

void Pace::speed_up(Duration gap) {
  good_ = std::min(*good_, gap);
  interval_ = std::min(interval_, scaled(gap, kFaster));
  if (interval_ >= kShortestInterval) return;
  interval_ = {};
  good_.reset();
}

// What was accepted and then rejected after all does not come here.
void Pace::forget(std::uint64_t number) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  last_accepted_ = std::max(last_accepted_, found->second.accepted_at.value_or(last_accepted_));
  sent_.erase(found);
}

// The pace was not slow enough by far: it is what two who were let in had between them, and looked for from
// there.
void Pace::slow_down_to(Duration gap) {
  interval_ = std::max(interval_, std::min(gap, kLongestHint));
  good_ = interval_;
}

void Pace::rejected(std::uint64_t number, std::optional<Duration> retry_after, TimePoint now,
                    bool is_overload) {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  const Sent sent = found->second;
  sent_.erase(found);
  soon_ = std::clamp(kSoonForEach * (now - sent.at), kShortestSoon, kLongestSoon);
  shut_until_ = std::max(shut_until_, now + std::min(retry_after.value_or(Duration{}), kLongestShut));
  if (window_) ++window_->rejected;
  if (is_overload) overloaded_ += (1 - overloaded_) / kOverloadedOf;
  const bool is_for_pace = !is_overload || retry_after || overloaded_ > kMostOverloaded;
  if (is_for_pace) {
    try_from_ =
        std::min(try_from_ + kSentForEachRejected, static_cast<double>(next_number_) + kLongestUntilTry);
  }
  if (sent.cuts < cuts_) return;  // the pace was cut already since it was sent
  ++cuts_;
  cut_at_ = now;
  const std::optional<Duration> measured = measure(sent);
  if (std::exchange(tried_, std::nullopt)) return end_try(measured);  // it, or the one that it went with
  // Others got through since it was accepted: the row that it belongs to has ended, and was paid for.
  const bool is_late = sent.rejected_before > 0 && sent.accepted_at && last_accepted_ > *sent.accepted_at;
  rejected_in_a_row_ = std::max(rejected_in_a_row_, is_late ? 0 : sent.rejected_before) + 1;
  shut_until_ = std::max(shut_until_, now + shut_at_least(rejected_in_a_row_));
  if (rejected_in_a_row_ > 1 || is_late) return;  // the one that goes alone says nothing of the pace
  if (is_for_pace) cut(retry_after, measured);
  most_unanswered_ = kFewUnanswered;
}

// What was let in since the last rejection, but for one that it may have had to spare.
std::optional<Duration> Pace::measure(const Sent& sent) {
  std::optional<Duration> interval;
  if (window_) {
    const double let_in = static_cast<double>(sent.first_of_moment) -
                          static_cast<double>(window_->next_number + window_->rejected);
    if (let_in < kMeasurable) return std::nullopt;
    interval = scaled(sent.at - window_->since, 1 / (let_in - 1));
  }
  window_ = {.since = sent.at, .next_number = next_number_};
  return interval;
}

// The limit stands. It may be wider than the pace: then more were let in.
void Pace::end_try(std::optional<Duration> measured) {
  interval_ = std::clamp(measured.value_or(interval_), interval_ / 2, interval_);
  most_unanswered_ = kFewUnanswered;
}

void Pace::cut(std::optional<Duration> retry_after, std::optional<Duration> measured) {
  if (interval_ == Duration{}) {
    const bool is_hint = retry_after > Duration{} && retry_after <= kLongestHint;
    interval_ = scaled(is_hint ? *retry_after : kFirstInterval, kMargin);
    // Of a limit that lets in several at once the one by one says nothing.
    if (requests_ || most_unanswered_ < 2) good_ = interval_;
  } else if (good_) {
    interval_ = *std::exchange(good_, std::nullopt);
  } else {
    interval_ = std::clamp(measured.value_or(interval_), scaled(interval_, kSlower), 2 * interval_);
  }
  interval_ = std::min(interval_, kLongestInterval);
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
