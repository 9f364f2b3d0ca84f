// A profile as JSON: all that a file can say of one.
#pragma once

#include "base/json.h"
#include "transcript/profile.h"

namespace deputy {

json::object to_json(const Profile& profile);
// What is not there, or is no such thing, is as in a profile of which nothing was said.
Profile profile_from_json(const json::object& value);

}  // namespace deputy
