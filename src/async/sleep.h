// Waiting for a moment, or for a stop, whichever comes first.
#pragma once

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"

namespace deputy {

enum class Slept { through, stopped };

Task<Slept> sleep_until(Loop& loop, TimePoint when, StopToken stop);
Task<Slept> sleep_for(Loop& loop, Duration duration, StopToken stop);

}  // namespace deputy
