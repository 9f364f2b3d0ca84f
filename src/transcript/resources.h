// What sessions have used of the machine, as a fold over their events.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "transcript/event.h"

namespace deputy {

struct Resources {
  int calls = 0;            // of tools
  int processes = 0;        // that these calls started
  Duration cpu{};           // of those and all that they started, together
  std::int64_t memory = 0;  // bytes: the most that one of them had at once
  bool operator==(const Resources&) const = default;
};

std::map<SessionId, Resources> resources_of(const std::vector<Event>& events);
json::object to_json(const Resources& resources);

}  // namespace deputy
