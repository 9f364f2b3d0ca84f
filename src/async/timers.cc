#include "async/timers.h"

#include <utility>

namespace deputy {

TimerId Timers::call_at(TimePoint when, Callback callback) {
  const TimerId id{when, next_++};
  const auto position = pending_.emplace(id, std::move(callback)).first;
  if (position == pending_.begin()) earliest_changed();
  return id;
}

void Timers::cancel(TimerId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  // The callback may own the last reference to whoever set it: it dies after the map is whole again.
  const Callback dying = std::move(found->second);
  pending_.erase(found);
}

std::optional<TimePoint> Timers::earliest() const {
  if (pending_.empty()) return std::nullopt;
  return pending_.begin()->first.first;
}

std::vector<TimerId> Timers::due(TimePoint now) const {
  std::vector<TimerId> ids;
  for (const auto& [id, callback] : pending_) {
    if (id.first > now) break;
    ids.push_back(id);
  }
  return ids;
}

void Timers::fire(TimerId id) {
  auto found = pending_.extract(id);
  if (found) found.mapped()();
}

void Timers::forget_all() {
  // Moved out first: what a callback owns may die with it and cancel others.
  const auto dying = std::exchange(pending_, {});
}

}  // namespace deputy
