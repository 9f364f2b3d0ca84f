// What a tree left in its journal when it ran, against what it left when it ran again. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/event.h"

namespace deputy {

struct Replayed {
  std::size_t sessions = 0;
  std::size_t events = 0;  // that were compared
  // One a session: where it first went another way. In the order in which they did.
  std::vector<std::string> differences = {};
  std::size_t first = 0;    // the first event that is another one, by its index then
  bool is_of_time = false;  // that may come of time alone: of how much there was left, and of who waited
  std::size_t steps = 0;    // of the simulation, in all attempts
};

// Whether it went the same way for longer, or in more of its sessions.
bool is_closer(const Replayed& one, const Replayed& other);

// All but the process that a call started, which no replay does, and what had been heard of a reply when
// something else was recorded, whose moments are not on record. Of a tree that was taken up how its sessions
// wait neither: which of it was on record hangs on the moment at which its program left or died.
bool is_compared(const Fact& fact, bool is_taken_up);
bool is_taken_up(const std::vector<Event>& events);

// The events are the same but for times, ids and redactions. What was reserved for a request hangs on all
// that stood in it, so of a tree of which something was redacted only that it was reserved is compared.
class Comparison {
 public:
  explicit Comparison(const std::vector<Event>& then);
  // Of a session that had no end then, those events that it had.
  Replayed with(const std::vector<Event>& now) const;

 private:
  struct Tree;
  std::shared_ptr<const Tree> then_;
};

// Wherever it stands: one id in place of another.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace deputy
