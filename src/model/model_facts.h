// What one should know of a model before using it. What nobody knows stays absent; it is never counted as 0.
#pragma once

#include <cstdint>
#include <optional>

#include "model/provider.h"

namespace deputy {

struct ModelFacts {
  std::optional<std::int64_t> window;      // the most tokens a conversation may hold
  std::optional<std::int64_t> max_output;  // the most that one reply may have of them
  std::optional<Price> price;
};

}  // namespace deputy
