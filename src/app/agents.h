// The agents that a command has to work with: the built-in ones, the person's, and the project's where its
// folder is trusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/program.h"
#include "delegation/profile_discovery.h"

namespace deputy {

// All that there are for work in `workspace`, used or not. A model that another program's profile names and
// that cannot be used here is left out: the agent then has its parent's.
OrFailure<std::vector<FoundProfile>> find_agents(Program& program, std::string_view workspace);

// Those that are used; what is not is said on stderr, in a line or two.
OrFailure<Profiles> profiles_for(Program& program, std::string_view workspace);

}  // namespace deputy
