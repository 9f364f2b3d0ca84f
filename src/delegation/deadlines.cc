#include "delegation/deadlines.h"

#include <chrono>

namespace deputy {

void Deadlines::start(const Session& session, StopSource& stop) {
  Clock clock{.stop = &stop,
              .parent = session.parent,
              .run = {session.id, session.run},
              .deadline = session.deadline};
  if (session.deadline) {
    clock.until = loop_.clock().now() + (*session.deadline - loop_.clock().wall());
    stop.set_deadline(loop_.timers(), clock.until);
  }
  clocks_.insert_or_assign(session.id, clock);
}

void Deadlines::end(const SessionId& id) {
  const auto ended = clocks_.extract(id);
  if (!ended || !ended.mapped().parent) return;
  for (int holds = ended.mapped().holds; holds > 0; --holds) go_on(*ended.mapped().parent);
}

Deadlines::Clock* Deadlines::find(const std::optional<SessionId>& id) {
  const auto found = id ? clocks_.find(*id) : clocks_.end();
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
