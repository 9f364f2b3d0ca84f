// Waiting for a system descriptor (a pipe, a pidfd) on the system loop. The descriptor stays its owner's, who
// may close it meanwhile, and as it is: others may share it. Never fails: when the system has no descriptor
// left to wait with, it looks from time to time.
#pragma once

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"

namespace deputy {

enum class Readiness { ready, stopped };

// Level-triggered: returns when a read would not block, the other end has closed, or a pidfd's process has
// ended. Gives the loop's other work a turn even when it need not wait.
Task<Readiness> wait_readable(SystemLoop& loop, int descriptor, StopToken stop);

}  // namespace deputy
