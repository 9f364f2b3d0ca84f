// A text as JSON spells it, quotes included; what is not UTF-8 is mended. Not called quoted: std has one.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/text.h"

namespace deputy {

inline std::string json_string(std::string_view text) {
  return to_utf8(json::serialize(json::string_view(text)));
}

}  // namespace deputy
