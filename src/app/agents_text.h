// Agents as people and programs read of them: where each came from, whether it is used, what it means here.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "delegation/profile_discovery.h"

namespace deputy {

// A row each.
std::string list_of_agents(const std::vector<FoundProfile>& found);
// All that is known of one.
std::string shown_agent(const FoundProfile& found);
// What is to be said of one file: whether it can be used, what was understood of it, and each remark on a
// line.
std::string checked_agent(const FoundProfile& found);
// How many were checked, and how many of them cannot be used.
std::string counted(const std::vector<FoundProfile>& checked);
// Whether it can be used as it is.
bool is_sound(const FoundProfile& found);

json::object to_json(const FoundProfile& found);

}  // namespace deputy
