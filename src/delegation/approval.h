// What a person is told about the price of children before they are spawned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/models.h"

namespace deputy {

struct PlannedChild {
  ModelName model;
  std::optional<int> max_output_tokens;
};

// The most they may cost: a whole window in and the output cap out, for each child. Marked as the estimate it
// is; "cost unknown" where one price is.
std::string cost_text(const std::vector<PlannedChild>& children, const Models& models);

}  // namespace deputy
