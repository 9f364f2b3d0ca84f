// What a journal says, as the script of the scripted model.
#pragma once

#include <string>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// The recorded replies; a session's label is its place in the tree.
std::string script_of(const std::vector<Event>& events);

}  // namespace deputy
