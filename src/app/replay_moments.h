// When a moment of a recorded tree is on the clock of its replay: that begins with the tree, and stands still
// while no program ran it, unless the time of a question ran out meanwhile. Pure.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// The events by which programs took a tree up when a question to a parent had run out of time: one that had
// run by then would have said so at once.
std::set<std::size_t> taken_up_too_late(const std::vector<Event>& events);

class Moments {
 public:
  explicit Moments(const std::vector<Event>& events);
  TimePoint of(WallTime at) const;

 private:
  WallTime begin_;
  std::vector<std::pair<WallTime, WallTime::duration>> still_;  // until when, and for how long
};

}  // namespace deputy
