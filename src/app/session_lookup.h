// From what a person typed to a session: its id, or the beginning of one that fits no other.
#pragma once

#include <string>

#include "store/store.h"

namespace deputy {

Result<Session> find_session(const Store& store, const std::string& typed);

}  // namespace deputy
