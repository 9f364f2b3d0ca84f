#include "delegation/approval.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deputy {

namespace {

std::string cost_text(const std::vector<PlannedChild>& children, const Models& models, const Budget& budget) {
  if (budget.limits().cost_micros != kUnlimited<std::int64_t>) {
    return fmt::format("at most {} is left of {}", dollars(budget.left().cost_micros),
                       dollars(budget.limits().cost_micros));
  }
  double dollars = 0;
  for (const auto& child : children) {
    const auto provider = models.find(child.model);
    const auto price = provider ? (*provider)->price(child.model) : std::nullopt;
    if (!price) return "cost unknown";
    dollars += (price->input * static_cast<double>((*provider)->window(child.model)) +
                price->output * child.max_output_tokens) /
               1e6;
  }
  return dollars == 0 ? "no cost"
                      : fmt::format("about ${:.2f} at most for one full window each (estimate)", dollars);
}

}  // namespace

std::string terms_text(const std::vector<PlannedChild>& children, const Models& models,
                       const Budget& budget) {
  std::vector<std::string> names;
  for (const auto& child : children) {
    if (std::ranges::find(names, child.model.value) == names.end()) names.push_back(child.model.value);
  }
  return fmt::format("model {}, {}, risk medium", fmt::join(names, ", "),
                     cost_text(children, models, budget));
}

}  // namespace deputy
