#include "delegation/slots.h"

#include <cassert>
#include <utility>

namespace deputy {

Slots::~Slots() { assert(running_ == 0 && "a slot was leaked"); }

Slots::Place::Place(Place&& other) noexcept
    : slots_(std::exchange(other.slots_, nullptr)), parent_(std::move(other.parent_)) {}

Slots::Place& Slots::Place::operator=(Place&& other) noexcept {
  std::swap(slots_, other.slots_);
  std::swap(parent_, other.parent_);
  return *this;
}

Slots::Place::~Place() {
  if (slots_) slots_->release(parent_);
}

bool Slots::has_room_for(const SessionId& parent) const {
  if (running_ >= limits_.live_sessions) return false;
  const auto siblings = children_.find(parent);
  return parent.empty() || (siblings == children_.end() ? 0 : siblings->second) < limits_.live_children;
}

void Slots::occupy(const SessionId& parent) {
  running_ += 1;
  if (!parent.empty()) children_[parent] += 1;
}

void Slots::release(const SessionId& parent) {
  running_ -= 1;
  if (const auto siblings = children_.find(parent); siblings != children_.end() && --siblings->second == 0) {
    children_.erase(siblings);
  }
  admit_waiting();
}

void Slots::admit_waiting() {
  for (auto next = line_.begin(); next != line_.end();) {
    if (next->waiter.resumed()) {
      next = line_.erase(next);  // it was stopped while it waited
    } else if (has_room_for(next->parent)) {
      occupy(next->parent);
      next->waiter.resume(true);
      next = line_.erase(next);
    } else {
      ++next;
    }
  }
}

Task<std::optional<Slots::Place>> Slots::take(SessionId parent, StopToken stop) {
  if (has_room_for(parent)) {
    occupy(parent);
    co_return Place(this, std::move(parent));
  }
  const Waiter<bool> waiter;
  line_.push_back({parent, waiter});
  const auto on_stop = stop.on_stop([waiter] { waiter.resume(false); });
  if (!co_await waiter.wait()) co_return std::nullopt;
  co_return Place(this, std::move(parent));
}

}  // namespace deputy
