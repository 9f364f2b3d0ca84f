// When a moment of a recorded tree is on the clock of its replay: that begins with the tree, and stands still
// while no program ran it. Pure.
#pragma once

#include <utility>
#include <vector>

#include "transcript/event.h"

namespace deputy {

class Moments {
 public:
  explicit Moments(const std::vector<Event>& events);
  TimePoint of(WallTime at) const;

 private:
  WallTime begin_;
  std::vector<std::pair<WallTime, WallTime::duration>> still_;  // until when, and for how long
};

}  // namespace deputy
