#include "store/session_journal.h"

#include <utility>

namespace deputy {

Event SessionJournal::stamped(Place place, Fact fact) const {
  Event event;
  event.tree = tree_;
  event.run = run_;
  event.step = place.step;
  event.call = place.call;
  event.fact = journal_.as_kept(std::move(fact));
  return event;
}

Task<Result<void>> SessionJournal::record(Place place, std::vector<Fact> facts) {
  std::vector<Event> events;
  events.reserve(facts.size());
  for (auto& fact : facts) {
    events.push_back(stamped(place, std::move(fact)));
    applied_(events.back());
  }
  co_return co_await journal_.record(std::move(events));
}

void SessionJournal::ride_along(Place place, Fact fact) {
  std::vector<Event> events{stamped(place, std::move(fact))};
  applied_(events.back());
  journal_.ride_along(std::move(events));
}

Task<Result<void>> SessionJournal::sync() { co_return co_await journal_.record({}); }

}  // namespace deputy
