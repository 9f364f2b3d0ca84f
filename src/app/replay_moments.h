// When a moment of a recorded tree is on the clock of its replay: that begins with the tree, and stands still
// while no program ran it, unless the time of a question ran out meanwhile. Pure.
#pragma once

#include <utility>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// A program that took the tree up from another.
struct NextProgram {
  std::size_t first = 0;     // of its events
  std::size_t taken_up = 0;  // the one that says so
};
std::vector<NextProgram> next_programs_in(const std::vector<Event>& events);

// A bundle may say anything: within a century of 1970.
WallTime believable(WallTime told);

class Moments {
 public:
  explicit Moments(const std::vector<Event>& events);
  TimePoint of(WallTime at) const;

 private:
  WallTime begin_;
  std::vector<std::pair<WallTime, WallTime::duration>> still_;  // until when, and for how long
};

}  // namespace deputy
