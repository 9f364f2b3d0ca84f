// What comes in for a run beside the results of its calls: nudges, and the reports and questions of children
// that go on beside it. The loop takes it between two steps; delegation/ implements it.
#pragma once

#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "transcript/event.h"

namespace deputy {

enum class MailState {
  none,
  expected,  // a child that works beside the run will have something to say
  here,
};

class Mail {
 public:
  virtual ~Mail() = default;
  virtual MailState state() const = 0;
  // All that is here, each item once in the life of the session.
  virtual std::vector<Delivered> take() = 0;
  // Until the state has changed, or the stop.
  virtual Task<> wait(StopToken stop) = 0;
};

}  // namespace deputy
