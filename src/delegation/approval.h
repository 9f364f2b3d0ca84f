// What a person is told about the price of children before they are spawned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delegation/budget.h"
#include "model/models.h"

namespace deputy {

struct PlannedChild {
  ModelName model;
  std::optional<int> max_output_tokens;
};

// The most they may cost. Where the tree's dollars are limited: what is left of them. Else a whole window in
// and the output cap out, for each child, marked as the estimate it is; "cost unknown" where one price is.
std::string cost_text(const std::vector<PlannedChild>& children, const Models& models, const Budget& budget);

}  // namespace deputy
