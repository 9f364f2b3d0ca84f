// What the errors of model servers mean, whoever speaks. Their shapes differ: an object in an
// object, a text, a flat object, a list, a web page; all are read here, and none is trusted to be harmless:
// messages come out on one line, short, and without keys.
#pragma once

#include <string_view>

#include "model/dialect.h"

namespace deputy::api {

// An answer of another status than 200.
Failure http_failure(const HttpResponse& response, std::string_view body, WallTime now);
// An error in the middle of an answer that began well: the JSON text of the event or of its error object.
Failure stream_failure(std::string_view error);

Failure cut_short();   // no terminal event
Failure too_large();   // past the bounds of ReplyDraft or of an event
Failure unreadable();  // an event that is not what it should be

}  // namespace deputy::api
