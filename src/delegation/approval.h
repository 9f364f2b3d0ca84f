// What a person is told about children before they are spawned: what they are told, what they run on, and
// what that may cost.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
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

// As its call has it.
struct ToldChild {
  std::string name;    // its label, or its agent where it has none
  std::string prompt;  // all that it is told
  json::object given;  // what else the call says of it
};
json::object without(json::object object, std::initializer_list<std::string_view> keys);

// "[survey] What is in this folder?; [prices] Where are...": all of them on one line.
std::string goals_text(const std::vector<ToldChild>& children, std::size_t goal_characters);
// What goals_text leaves out, to stand below it: nothing, where that line says it all; else every child on a
// line of its own, with what is given of it, and its whole prompt indented below, so that no prompt can pass
// for another child.
std::string briefs_text(const std::vector<ToldChild>& children, std::size_t goal_characters);

}  // namespace deputy
