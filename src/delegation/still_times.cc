#include "delegation/still_times.h"

#include <optional>

#include "store/session_view.h"

namespace deputy {
namespace {

class StillTimes {
 public:
  void take(const Event& event) {
    if (std::holds_alternative<TakenUp>(event.fact)) leave_all();
    // What a request without a trace may have come to is reserved before the tree is taken up.
    if (std::holds_alternative<BudgetReserved>(event.fact)) return;
    Clock& clock = clocks_[event.run.session];
    apply_to_session(clock.session, event);
    if (std::holds_alternative<RunStarted>(event.fact) || std::holds_alternative<DeadlineMoved>(event.fact))
      take_deadline(clock, event.at);
    const auto& wait = clock.session.wait;
    take_wait(clock, wait && wait->owner == kPerson, event.at);
    last_ = event.at;
  }

  std::map<SessionId, WallTime> told() const {
    std::map<SessionId, WallTime> since;
    for (const auto& [id, clock] : clocks_) since[id] = clock.still_since.value_or(last_);
    return since;
  }

 private:
  struct Clock {
    Session session = {};
    bool asks = false;     // a person
    int holds = 0;         // how many ask, of it and those below it
    bool is_left = false;  // by a process, and not gone on with since
    std::optional<WallTime> still_since = {};
  };

  // Nobody waits for an answer any more: who goes on asks again.
  void leave_all() {
    for (auto& [id, clock] : clocks_) {
      clock.session.wait.reset();
      clock.asks = false;
      clock.holds = 0;
      clock.is_left = true;
      if (!clock.still_since) clock.still_since = last_;
    }
  }

  // What stood still until then is in it.
  static void take_deadline(Clock& clock, WallTime at) {
    clock.is_left = false;
    clock.still_since = clock.holds > 0 ? std::optional(at) : std::nullopt;
  }

  void take_wait(Clock& asker, bool asks, WallTime at) {
    if (asks == asker.asks) return;
    asker.asks = asks;
    for (Clock* clock = &asker; clock; clock = above(*clock)) {
      clock->holds += asks ? 1 : -1;
      if (clock->is_left) continue;
      if (clock->holds == 0) clock->still_since.reset();
      if (clock->holds > 0 && !clock->still_since) clock->still_since = at;
    }
  }

  Clock* above(const Clock& clock) {
    return clock.session.parent ? &clocks_[*clock.session.parent] : nullptr;
  }

  std::map<SessionId, Clock> clocks_;
  WallTime last_{};  // when the last was recorded by a process that ran the tree
};

}  // namespace

std::map<SessionId, WallTime> still_since(const std::vector<Event>& events) {
  StillTimes times;
  for (const Event& event : events) times.take(event);
  return times.told();
}

}  // namespace deputy
