// What a tree left in its journal when it ran, against what it left when it ran again. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transcript/event.h"

namespace deputy {

struct Replayed {
  std::size_t sessions = 0;
  std::size_t events = 0;                     // that were compared
  std::vector<std::string> differences = {};  // one a session: where it first went another way
};

// The events are the same but for times, ids, and what hangs on them or on the provider: who waited for whom
// meanwhile, requests that were made again, what was reserved for them; and what processes used of the
// machine. Of a session without an end, those it has.
Replayed compared(const std::vector<Event>& then, const std::vector<Event>& now);

bool is_compared(const Fact& fact);

// Wherever it stands: one id in place of another.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace deputy
