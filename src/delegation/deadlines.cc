#include "delegation/deadlines.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace deputy {
namespace {

std::chrono::microseconds rounded(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

}  // namespace

std::optional<WallTime> moved_deadline(const std::optional<WallTime>& deadline, Duration before,
                                       Duration time, WallTime left_at) {
  if (time == Duration::max()) return std::nullopt;
  if (deadline && before != Duration::max()) return *deadline + rounded(time - before);
  return left_at + rounded(time);
}

Duration time_with_more(const std::optional<WallTime>& deadline, Duration before, Duration more,
                        WallTime left_at) {
  if (!deadline || before == Duration::max() || more == Duration::max()) return more;
  const Duration passed = before - (*deadline - left_at);
  return passed + more;
}

void Deadlines::start(const Session& session, StopSource& stop) {
  end(session.id);
  Clock& clock = clocks_[session.id];
  clock = {.stop = &stop,
           .parent = session.parent.value_or(SessionId{}),
           .run = {session.id, session.run},
           .deadline = session.deadline};
  if (session.deadline) {
    clock.until = loop_.clock().now() + (*session.deadline - loop_.clock().wall());
    stop.set_deadline(loop_.timers(), clock.until);
  }
  work(session.id);
}

Deadlines::~Deadlines() {
  for (auto& [id, clock] : clocks_) stop_listening(clock);
}

std::vector<Deadlines::Moved> Deadlines::end(const SessionId& id) {
  rest(id);
  const auto ended = clocks_.extract(id);
  std::vector<Moved> moved;
  if (!ended) return moved;
  for (int holds = ended.mapped().holds; holds > 0; --holds)
    std::ranges::move(go_on(ended.mapped().parent), std::back_inserter(moved));
  return moved;
}

WallTime Deadlines::end_of(const SessionId& id, const std::optional<WallTime>& planned) const {
  const TimePoint now = loop_.clock().now();
  const auto found = clocks_.find(id);
  const Clock* clock = found == clocks_.end() ? nullptr : &found->second;
  if (!clock && planned) return *planned;
  if (clock && clock->deadline) {
    const Duration stood = clock->holds > 0 ? now - clock->held_since : Duration::zero();
    return *clock->deadline + std::chrono::duration_cast<WallTime::duration>(stood);
  }
  // The day of one that rests has not begun.
  const TimePoint heard = clock && clock->alarm ? clock->heard : now;
  return loop_.clock().wall() + std::chrono::duration_cast<WallTime::duration>(heard + kLongestSilence - now);
}

void Deadlines::heard(const SessionId& id) {
  if (Clock* clock = find(id)) clock->heard = loop_.clock().now();
}

void Deadlines::rest(const SessionId& id) {
  if (Clock* clock = find(id)) stop_listening(*clock);
}

void Deadlines::work(const SessionId& id) {
  Clock* clock = find(id);
  if (!clock) return;
  clock->heard = loop_.clock().now();
  if (!clock->deadline && !clock->alarm) listen(id, *clock);
}

// It is not set anew for all that is heard: it looks, and waits for the rest.
void Deadlines::listen(const SessionId& id, Clock& clock) {
  clock.alarm = loop_.timers().call_at(clock.heard + kLongestSilence, [this, id] {
    Clock* late = find(id);
    if (!late) return;
    late->alarm.reset();
    if (loop_.clock().now() < late->heard + kLongestSilence) return listen(id, *late);
    stall_(id);
  });
}

void Deadlines::stop_listening(Clock& clock) {
  if (const auto set = std::exchange(clock.alarm, std::nullopt)) loop_.timers().cancel(*set);
}

Deadlines::Clock* Deadlines::find(const SessionId& id) {
  const auto found = clocks_.find(id);
  return found == clocks_.end() ? nullptr : &found->second;
}

void Deadlines::hold(const SessionId& id) {
  for (Clock* clock = find(id); clock; clock = find(clock->parent)) {
    if (clock->holds++ > 0) continue;
    clock->held_since = loop_.clock().now();
    if (clock->deadline) clock->stop->set_deadline(loop_.timers(), std::nullopt);
  }
}

std::vector<Deadlines::Moved> Deadlines::go_on(const SessionId& id) {
  std::vector<Moved> moved;
  for (Clock* clock = find(id); clock; clock = find(clock->parent)) {
    if (--clock->holds > 0 || !clock->deadline) continue;
    const Duration stood = loop_.clock().now() - clock->held_since;
    clock->until += stood;
    *clock->deadline += std::chrono::duration_cast<std::chrono::microseconds>(stood);
    clock->stop->set_deadline(loop_.timers(), clock->until);
    if (stood > Duration::zero()) moved.push_back({clock->run, *clock->deadline});
  }
  return moved;
}

}  // namespace deputy
