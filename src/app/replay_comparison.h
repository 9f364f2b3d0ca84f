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
  std::size_t first = 0;                      // the first event that is another one, by its index then
};

// The events are the same but for times and ids. Of a session without an end, those it has. How sessions wait
// is told beside what they do: of a tree that was left or whose program died it is not compared, since what
// of it was on record then hangs on that moment.
Replayed compared(const std::vector<Event>& then, const std::vector<Event>& now);

// But for what no replay does: it starts no process, and what had been heard of a reply when something else
// was recorded is not on record with its moments.
bool is_compared(const Fact& fact);

// Wherever it stands: one id in place of another.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace deputy
