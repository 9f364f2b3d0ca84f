// What a tree has on record, for a view of it that begins in the middle: it is shown whole, as if all of it
// had happened before its eyes.
#pragma once

#include <vector>

#include "transcript/event.h"

namespace deputy {

struct PastEvent {
  Event event;
  EventOrigin origin;
};

// The events of a whole tree, each with whose it is.
std::vector<PastEvent> with_origins(std::vector<Event> events);
// The same without what the person was asked, and the answer: what is open is asked again.
std::vector<PastEvent> past_events(std::vector<Event> events);

}  // namespace deputy
