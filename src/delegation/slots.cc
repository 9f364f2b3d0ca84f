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

// Needs no memory but for the first child of its parent: also who lets go of a place gives it on.
void Slots::give_place(Standing& standing) {
  if (!standing.parent.empty()) children_[standing.parent] += 1;
  running_ += 1;
  standing.place = Place(this, std::move(standing.parent));
}

void Slots::release(const SessionId& parent) {
  running_ -= 1;
  if (const auto siblings = children_.find(parent); siblings != children_.end() && --siblings->second == 0) {
    children_.erase(siblings);
  }
  admit_waiting();
}

void Slots::admit_waiting() {
  std::erase_if(line_, [this](const std::weak_ptr<Standing>& next) {
    const auto standing = next.lock();
    if (!standing || standing->has_come.resumed()) return true;  // it has left the line, or is about to
    if (!has_room_for(standing->parent)) return false;
    give_place(*standing);
    standing->has_come.resume(true);
    return true;
  });
}

Slots::Ticket Slots::take_ticket(SessionId parent) {
  auto standing = std::make_shared<Standing>(Standing{.parent = std::move(parent)});
  if (has_room_for(standing->parent)) {
    give_place(*standing);
  } else {
    line_.push_back(standing);
  }
  return Ticket(std::move(standing));
}

Task<std::optional<Slots::Place>> Slots::Ticket::wait(StopToken stop) const {
  const auto on_stop = stop.on_stop([waiter = standing_->has_come] { waiter.resume(false); });
  if (!standing_->place) co_await standing_->has_come.wait();
  co_return std::move(standing_->place);
}

}  // namespace deputy
