// Rings when another process may have left a letter, so that nobody has to look for one all the time.
#pragma once

#include "async/stop.h"
#include "async/task.h"

namespace deputy {

class Bell {
 public:
  virtual ~Bell() = default;
  // Until it has rung since the last time, or the stop.
  virtual Task<> wait(StopToken stop) = 0;
};

}  // namespace deputy
