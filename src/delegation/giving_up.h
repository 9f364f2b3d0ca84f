// A tree that nobody runs any more is given up: what is unfinished of it ends as cancelled, without going on
// first. No model is asked and nothing is run, so it needs neither.
#pragma once

#include "async/task.h"
#include "base/clock.h"
#include "base/result.h"
#include "store/store.h"

namespace deputy {

// Error::busy where somebody runs it after all. What worktrees hold stays where it is.
Task<Result<void>> give_up(Store& store, SessionId tree, WallTime now);

}  // namespace deputy
