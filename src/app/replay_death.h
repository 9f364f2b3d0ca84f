// What is on record of a program that died where the one of then did. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "app/replay_outside.h"
#include "app/replay_places.h"

namespace deputy {

// Of what was told by then: the first `before` events, which were on record when the program began, and what
// each session had told when it had come as far as then; nothing of those that then had told nothing.
std::vector<Event> left_by_death(const std::vector<Event>& told, std::size_t before, const Places& places,
                                 const std::map<std::string, Progress>& then);

}  // namespace deputy
