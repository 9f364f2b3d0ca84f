// What a person is told about children before they are spawned: what they run on, and what that may cost.
#pragma once

#include <string>
#include <vector>

#include "delegation/budget.h"
#include "model/models.h"

namespace deputy {

// As it was resolved: what its call, its profile and its parent come to.
struct PlannedChild {
  ModelName model;
  int max_output_tokens = 0;
};

// "model a/x, b/y, …": every model there is among them, and the most they may cost. Where the tree's dollars
// are limited, that is what is left of them. Else a whole window in and the output cap out, for each child,
// marked as the estimate it is; "cost unknown" where one price is. Of tokens and steps, what is left where
// they are limited.
std::string terms_text(const std::vector<PlannedChild>& children, const Models& models, const Budget& budget);

}  // namespace deputy
