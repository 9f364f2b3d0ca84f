// Runs one task on the loop of this thread, to its end.
#pragma once

#include "async/loop.h"
#include "async/task.h"

namespace deputy {

void run_on(SystemLoop& loop, Task<> task);

}  // namespace deputy
