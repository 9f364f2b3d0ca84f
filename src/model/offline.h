// What the providers without a network have in common: what a request and a reply would weigh as tokens, and
// a text handed out as if it were streamed. The same request gives the same numbers and the same pieces.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/provider.h"

namespace deputy {

// How many replies the conversation already holds: the step that comes next, counted from 0.
int step_of(std::span<const Message> messages);

// Four bytes a token. The cost stays unknown; whoever knows it says so.
Usage estimated_usage(const Request& request, const Message& reply);

// In pieces of whole characters; an empty text gives none.
void stream_text(std::string_view text, const DeltaSink& deltas);

}  // namespace deputy
