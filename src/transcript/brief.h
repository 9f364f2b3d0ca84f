// What a parent hands down to a child: the whole of what the child's first request says beside its
// instructions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transcript/ids.h"

namespace deputy {

struct Brief {
  std::string label;
  std::string prompt;  // context files already in front of it
  std::optional<ModelName> model;
  std::optional<int> max_output_tokens;
};

}  // namespace deputy
