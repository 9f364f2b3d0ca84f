// What a session had running beside it when it was stopped, and lost with that.
#pragma once

#include <vector>

#include "agent/conversation.h"
#include "store/store.h"

namespace deputy {

// Records, for a session that goes on, what its model is to be told of it: it reads that before its next
// step.
struct TreeServices;
Task<Result<void>> tell_of_lost_commands(const TreeServices* services, Session session,
                                         std::vector<Event> events, Conversation& so_far);

}  // namespace deputy
