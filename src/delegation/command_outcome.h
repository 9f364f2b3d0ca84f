// How a command ended, by its children: the command itself only hands their reports on. All completed, it
// completed; none completed or partial, it failed; else it is partial. Pure.
#pragma once

#include <vector>

#include "transcript/report.h"
#include "transcript/session.h"

namespace deputy {

// `children` are those that came to be; what the command asked for beyond them was refused.
Report judged_by_children(Report report, const Session& command, const std::vector<Session>& children);

}  // namespace deputy
