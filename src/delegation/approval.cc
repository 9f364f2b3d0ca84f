#include "delegation/approval.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {

namespace {

std::string estimate(const std::vector<PlannedChild>& children, const Models& models) {
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

std::string cost_text(const std::vector<PlannedChild>& children, const Models& models, const Budget& budget) {
  constexpr auto kNone = kUnlimited<std::int64_t>;
  const auto count = [](std::int64_t number) { return with_thousands(static_cast<std::uint64_t>(number)); };
  const TreeLimits& limits = budget.limits();
  const Amount left = budget.left();
  std::string text =
      limits.cost_micros == kNone
          ? estimate(children, models)
          : fmt::format("at most {} is left of {}", dollars(left.cost_micros), dollars(limits.cost_micros));
  if (limits.tokens != kNone)
    text += fmt::format(", at most {} tokens are left of {}", count(left.tokens), count(limits.tokens));
  if (limits.steps != kNone)
    text += fmt::format(", at most {} steps are left of {}", count(left.steps), count(limits.steps));
  return text;
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
