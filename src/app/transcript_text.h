// A session's conversation and notes as its journal tells them, not as files happen to hold them: for
// reading, and as the JSON of a sealed transcript. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "transcript/event.h"
#include "transcript/message.h"

namespace deputy {

// What was said, in order; a result that came on its own is a message of its own.
std::vector<Message> messages_of(const std::vector<Event>& events);
// What was heard of a reply that is still under way, or that a crash cut off and nobody has asked for again.
std::string heard_of(const std::vector<Event>& events);
std::vector<std::string> notes_of(const std::vector<Event>& events);

std::string transcript_text(const Session& session, const std::vector<Event>& events);
// Label, times, outcome, usage, messages.
json::object transcript_json(const Session& session, const std::vector<Event>& events);

}  // namespace deputy
