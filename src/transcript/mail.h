// What comes in for a session beside the results of its calls: nudges, and what children that go on beside it
// have to say. Each item has a name, under which it is put before the session's model once.
#pragma once

#include <string>

#include "transcript/ids.h"

namespace deputy {

std::string nudge_item(const std::string& nudge_id);
std::string report_item(const SessionId& child, int run);
std::string question_item(const std::string& question_id);

}  // namespace deputy
