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

  // A place for a child of `parent`; empty for the root. Nothing when stopped before there was one.
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
  Task<std::optional<Place>> take(SessionId parent, StopToken stop);
  // Whether take() would give a place at once.
  bool has_room_for(const SessionId& parent) const;

  int running() const { return running_; }
  const TreeLimits& limits() const { return limits_; }

 private:
  struct Waiting {
    SessionId parent;
    Waiter<bool> waiter;
  };
  void occupy(const SessionId& parent);
  void release(const SessionId& parent);
  void admit_waiting();

  TreeLimits limits_;
  int running_ = 0;
  std::map<SessionId, int> children_;
  std::list<Waiting> line_;
};

}  // namespace deputy
