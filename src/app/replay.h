// Runs the tree of a bundle again, in a world of its own: a simulated clock, disk and process table. The
// recorded replies are the script of the scripted model, each after the time that it took; the tools of the
// workspace hand out what they handed out then, and leave the same facts; delegation, questions, limits and
// reports are the runtime's own. Nothing of this machine is touched.
#pragma once

#include <string>
#include <vector>

#include "app/bundle.h"

namespace deputy {

struct Replayed {
  std::size_t sessions = 0;
  std::size_t events = 0;                     // that were compared
  std::vector<std::string> differences = {};  // one a session: where it first went another way
};

// The events are the same but for times, ids, and what hangs on them or on the provider: who waited for whom
// meanwhile, requests that were made again, what was reserved for them; and what processes used of the
// machine. Of a session without an end, those it has.
Result<Replayed> replay(const Bundle& bundle);

// The recorded replies as the scripted model takes them; a session's label is its place in the tree.
std::string script_of(const std::vector<Event>& events);

}  // namespace deputy
