// When what a recorded tree did is on the clock of its replay: that begins with the tree, goes on as the
// machine's did, and stands still where that was set back and while no program ran the tree, unless the time
// of a question ran out meanwhile. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// A program that took the tree up from another.
struct NextProgram {
  std::size_t first = 0;     // of its events
  std::size_t taken_up = 0;  // the one that says so
};
std::vector<NextProgram> next_programs_in(const std::vector<Event>& events);

// A bundle may say anything: in the century from 1970 on.
WallTime believable(WallTime told);

class Moments {
 public:
  explicit Moments(const std::vector<Event>& events);
  // Of an event, by its index: none comes before the one before it.
  TimePoint of(std::size_t event) const { return moments_.at(event); }

 private:
  std::vector<TimePoint> moments_;
};

}  // namespace deputy
