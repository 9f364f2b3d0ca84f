#include "store/session_journal.h"

#include <algorithm>
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
  const std::size_t before = rode_;  // the journal keeps its order
  CO_TRY(co_await journal_.record(std::move(events)));
  durable_ = std::max(durable_, before);
  co_return Result<void>{};
}

void SessionJournal::ride_along(Place place, Fact fact) {
  std::vector<Fact> alone;
  alone.push_back(std::move(fact));
  ride_together(place, std::move(alone));
}

void SessionJournal::ride_together(Place place, std::vector<Fact> facts) {
  std::vector<Event> events;
  events.reserve(facts.size());
  for (Fact& fact : facts) {
    events.push_back(stamped(place, std::move(fact)));
    applied_(events.back());
  }
  rode_ += events.size();
  journal_.ride_along(std::move(events));
}

Task<Result<void>> SessionJournal::sync() {
  if (durable_ == rode_) co_return Result<void>{};
  co_return co_await record({}, {});
}

}  // namespace deputy
