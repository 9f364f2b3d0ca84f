#include "async/timers.h"

#include <limits>
#include <utility>

namespace deputy {

namespace {

// While a timer is fired, its place in the map waits here for the next that is set: who is called can be
// called again without any memory.
constexpr TimerId kFreePlace{TimePoint::max(), std::numeric_limits<std::uint64_t>::max()};

}  // namespace

TimerId Timers::call_at(TimePoint when, Callback callback) {
  const TimerId id{when, next_++};
  auto position = pending_.end();
  if (auto place = pending_.extract(kFreePlace)) {
    place.key() = id;
    place.mapped() = std::move(callback);
    position = pending_.insert(std::move(place)).position;
  } else {
    position = pending_.emplace(id, std::move(callback)).first;
  }
  try {
    earliest_changed();
  } catch (...) {
    pending_.erase(position);
    throw;
  }
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
  auto place = pending_.extract(id);
  if (!place) return;
  Callback callback = std::move(place.mapped());
  place.key() = kFreePlace;
  pending_.insert(std::move(place));
  const struct FreesPlace {
    std::map<TimerId, Callback>& pending;
    ~FreesPlace() { pending.erase(kFreePlace); }
  } frees{pending_};
  callback();
}

void Timers::forget_all() {
  // Moved out first: what a callback owns may die with it and cancel others.
  const auto dying = std::exchange(pending_, {});
}

}  // namespace deputy
