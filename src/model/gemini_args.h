// The arguments of a call that come in pieces, each with the path of the place it belongs to.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"

namespace deputy::gemini {

// The place that a path such as "$.a.b[0]['c d']" names below `root`, made where it is not there yet. Nothing
// when the path cannot be meant, leads through something else, leaves a gap in an array or is too deep.
json::value* place_at(json::value& root, std::string_view path);

}  // namespace deputy::gemini
