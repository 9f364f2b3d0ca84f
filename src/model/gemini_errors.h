// What Google's errors say beyond their status: how long to wait, and that waiting is of no use today.
#pragma once

#include <string_view>

#include "model/dialect.h"

namespace deputy::gemini {

Failure http_failure(const HttpResponse& response, std::string_view body, WallTime now);
// An error in the middle of an answer: the JSON text of the event.
Failure stream_failure(std::string_view event);

}  // namespace deputy::gemini
