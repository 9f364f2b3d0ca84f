#include "model/governor.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <tuple>
#include <utility>

namespace deputy {

namespace {

// Who has waited for so long goes before everybody who has not.
constexpr Duration kLongWait = std::chrono::minutes{1};

// Where there was no memory to give a turn: another may have let some go by then.
constexpr Duration kUntilMemory = std::chrono::seconds{1};

}  // namespace

// Nobody stays in line whose wait ended in another way than by a turn: for want of memory, say.
struct Governor::LeavesLine {
  Line& line;
  Line::iterator place;
  Waiter<std::uint64_t> turn;
  ~LeavesLine() {
    if (!turn.resumed()) line.erase(place);
  }
};

Governor::Turn::Turn(Turn&& other) noexcept
    : governor_(std::exchange(other.governor_, nullptr)), number_(other.number_) {}

Governor::Turn::~Turn() {
  if (!governor_) return;
  governor_->pace_.forget(number_);
  governor_->move_on();
}

void Governor::Turn::accepted(const HttpHeaders& headers) {
  const Clock& clock = governor_->loop_.clock();
  governor_->pace_.accepted(number_, parse_rate_limits(headers, clock.wall()), clock.now());
  governor_->move_on();
}

void Governor::Turn::rejected(std::optional<Duration> retry_after, bool is_overload) {
  governor_->pace_.rejected(number_, retry_after, governor_->loop_.clock().now(), is_overload);
  governor_->move_on();
}

Governor::~Governor() {
  assert(line_.empty() && "a governor outlives those who wait for it");
  if (timer_) loop_.timers().cancel(*timer_);
}

Task<std::optional<Governor::Turn>> Governor::enter(Rank rank, Duration longest_wait, StopToken stop) {
  if (stop.stopped()) co_return std::nullopt;
  const auto place = line_.insert(line_.end(), {.rank = rank, .longest_wait = longest_wait, .turn = {}});
  const Waiter<std::uint64_t> turn = place->turn;
  const LeavesLine leaves{line_, place, turn};
  const auto on_stop = stop.on_stop([this, place, turn] {
    if (turn.resumed()) return;
    line_.erase(place);
    turn.resume(0);
    move_on();
  });
  give_turns();
  const std::uint64_t number = co_await turn.wait();
  if (number == 0) co_return std::nullopt;
  Turn given(*this, number);
  if (stop.stopped()) co_return std::nullopt;
  co_return given;
}

Duration Governor::shut_for() const { return std::max(Duration{}, pace_.shut_until() - loop_.clock().now()); }

Governor::Line::iterator Governor::first_in_line(TimePoint now) {
  const auto place = [now](const Waiting& one) {
    const bool waited_long = now - one.rank.since >= kLongWait;
    return std::tuple(!waited_long, waited_long ? one.rank.since : TimePoint{}, one.rank.rejections,
                      one.rank.depth, -static_cast<std::int64_t>(one.rank.messages));
  };
  return std::ranges::min_element(line_, {}, place);
}

// Who would have to wait too long is told at once.
void Governor::send_away() {
  const Duration shut = shut_for();
  for (auto one = line_.begin(); one != line_.end();) {
    if (shut <= one->longest_wait) {
      ++one;
      continue;
    }
    const Waiter<std::uint64_t> turn = one->turn;
    one = line_.erase(one);
    turn.resume(0);
  }
}

void Governor::give_turns() {
  send_away();
  while (!line_.empty()) {
    const TimePoint now = loop_.clock().now();
    const auto first = first_in_line(now);
    const TimePoint when = pace_.earliest(now, first->rank.tokens);
    if (when > now) return wake_at(when);
    const Waiter<std::uint64_t> turn = first->turn;
    const std::uint64_t number = pace_.send(now, first->rank.tokens);
    line_.erase(first);
    turn.resume(number);
  }
  if (timer_) loop_.timers().cancel(*std::exchange(timer_, std::nullopt));
}

// While somebody waits there is a timer: one goes only when the next is set.
void Governor::wake_at(TimePoint when) {
  const TimerId next = loop_.timers().call_at(when, [this] {
    timer_.reset();
    try {
      give_turns();
    } catch (const std::bad_alloc&) {  // a timer that fires leaves its place to the next: that needs none
      wake_at(loop_.clock().now() + kUntilMemory);
    }
  });
  if (timer_) loop_.timers().cancel(*timer_);
  timer_ = next;
}

void Governor::move_on() noexcept {
  try {
    give_turns();
  } catch (const std::bad_alloc&) {  // the timer still stands for those in line
  }
}

Governor& Governors::of(const std::string& account, const std::string& model, int at_once) {
  auto& governor = all_[{account, model}];
  if (!governor) governor = std::make_unique<Governor>(loop_, Pace(at_once));
  return *governor;
}

}  // namespace deputy
