// A fact of a session's run as the event that is recorded; its number and time are the store's to give.
#pragma once

#include <utility>

#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

inline Event event_of(const Session& session, Fact fact, int step = 0) {
  Event event;
  event.tree = session.tree;
  event.run = {session.id, session.run};
  event.step = step;
  event.fact = std::move(fact);
  return event;
}

}  // namespace deputy
