// How far a replay has come along what is on record. What comes from outside the runtime (a reply, a result,
// an answer, a word) comes again when all that stood before it then has happened again: so what meets in one
// moment meets in the same order.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "async/waiter.h"
#include "transcript/event.h"

namespace deputy {

// Whether a session has come further by it. Not by what hangs on the moment at which something else was
// recorded or came to rest.
bool is_step(const Fact& fact);

// A copy of one that has not begun is another.
class Course {
 public:
  explicit Course(const std::vector<Event>& then);

  // It has happened again, to the session at `place`.
  void take(const std::string& place, const Fact& fact);
  // Nothing has, but what is taken from now on.
  void begin();
  // How many steps a session has made.
  std::size_t steps(const std::string& place) const;
  // Whether all has that stood before this event, by its index.
  bool has_reached(std::size_t event) const { return next_ >= event; }
  // At its moment, and when all has that stood before it; soon after its moment also without: then something
  // has gone another way.
  Task<> reach(Loop& loop, std::size_t event, TimePoint moment, StopToken stop);

 private:
  struct Step {
    std::string place;
    std::size_t index = 0;  // of those of its session, from 1; 0: it is none
  };
  void go_on();

  std::shared_ptr<const std::vector<Step>> then_;  // of all that begin as this one
  std::map<std::string, std::size_t> steps_;       // by place
  std::size_t next_ = 0;                           // the first event that has not happened again
  std::list<std::pair<std::size_t, Waiter<bool>>> waiting_;
};

}  // namespace deputy
