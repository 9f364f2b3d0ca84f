// Commands that ran in the background of a session when it was stopped: they ended with it, and what they had
// printed is gone. When the session goes on its model is told so, once of each. Pure.
#pragma once

#include <vector>

#include "transcript/event.h"

namespace deputy {

// What is to be told, of a session's events so far.
std::vector<Nudged> lost_commands(const std::vector<Event>& events);

}  // namespace deputy
