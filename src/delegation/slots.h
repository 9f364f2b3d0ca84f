// How many sessions of a tree run at once, in all and per parent. Whoever has no place waits in line; a
// session that waits for its children gives its place back meanwhile, so that a nested tree cannot starve
// itself.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>

#include "async/stop.h"
#include "async/task.h"
#include "async/waiter.h"
#include "delegation/admission.h"
#include "transcript/ids.h"

namespace deputy {

class Slots {
 public:
  explicit Slots(const TreeLimits& limits) : limits_(limits) {}
  ~Slots();

  // The right of a session to run, until it dies.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place();

   private:
    friend class Slots;
    Place(Slots* slots, SessionId parent) : slots_(slots), parent_(std::move(parent)) {}
    Slots* slots_ = nullptr;
    SessionId parent_;
  };

  // A place, or where its owner stands in the line for one. Whoever drops it leaves the line.
  class Ticket;
  // For a child of `parent`; empty for the root. Places go by the order in which tickets were taken.
  Ticket take_ticket(SessionId parent);

  int running() const { return running_; }
  const TreeLimits& limits() const { return limits_; }

 private:
  struct Standing {
    SessionId parent;
    std::optional<Place> place = std::nullopt;
    Waiter<bool> has_come = {};
  };
  bool has_room_for(const SessionId& parent) const;
  void give_place(Standing& standing);
  void release(const SessionId& parent);
  void admit_waiting();

  TreeLimits limits_;
  int running_ = 0;
  std::map<SessionId, int> children_;
  std::list<std::weak_ptr<Standing>> line_;
};

class Slots::Ticket {
 public:
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(Ticket&&) noexcept = default;
  bool has_place() const { return standing_->place.has_value(); }
  // Once. Nothing when stopped before there was a place.
  Task<std::optional<Place>> wait(StopToken stop) const;

 private:
  friend class Slots;
  explicit Ticket(std::shared_ptr<Standing> standing) : standing_(std::move(standing)) {}
  std::shared_ptr<Standing> standing_;
};

}  // namespace deputy
