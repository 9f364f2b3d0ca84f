// The durable order of events, and the only way to change anything that is kept. One record() is one unit:
// all of it is durable when it returns, or none of it will be. What rides along is queued in order and
// becomes durable with the next unit; a crash may lose it, so only what can be done again without harm may
// ride along. Neither call takes a StopToken: once queued it completes, so that a cancelled run can still
// write its end.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "base/result.h"
#include "transcript/event.h"

namespace deputy {

// Events that somebody else keeps alive.
using EventRefs = std::vector<std::reference_wrapper<const Event>>;

class Journal {
 public:
  virtual ~Journal() = default;
  // Fills in seq and at. An empty unit makes durable what rode along before it.
  virtual Task<Result<void>> record(std::vector<Event> events) = 0;
  virtual void ride_along(std::vector<Event> events) = 0;
  // The fact as it is kept: without secrets, where the journal keeps them out. What a run tells its model is
  // taken from this, so that a resumed run tells the same.
  virtual Fact as_kept(Fact fact) const { return fact; }
  // How much of a text that still grows can be kept by itself: no secret begins in it that goes on in what is
  // still to come.
  virtual std::size_t settled(std::string_view text) const { return text.size(); }
};

}  // namespace deputy
