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

// Cut by dots, as what is approved is spelled out where a terminal has ASCII alone, and a sign of ours with
// it.
std::string goal_of(const ToldChild& child, std::size_t characters) {
  constexpr std::string_view kSign = "…";
  constexpr std::string_view kDots = "...";
  std::string goal = on_one_line(child.prompt);
  if (utf8_length(goal) <= characters) return goal;
  std::string cut = shorten(goal, characters + 1 - kDots.size());
  cut.replace(cut.size() - kSign.size(), kSign.size(), kDots);
  return cut;
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

json::object without(json::object object, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) object.stable_erase(key);
  return object;
}

std::string goals_text(const std::vector<ToldChild>& children, std::size_t goal_characters) {
  std::vector<std::string> goals;
  for (const auto& child : children)
    goals.push_back(fmt::format("[{}] {}", on_one_line(child.name), goal_of(child, goal_characters)));
  return fmt::format("{}", fmt::join(goals, "; "));
}

std::string briefs_text(const std::vector<ToldChild>& children, std::size_t goal_characters) {
  const auto is_said = [goal_characters](const ToldChild& child) {
    return child.given.empty() && goal_of(child, goal_characters) == child.prompt;
  };
  if (std::ranges::all_of(children, is_said)) return {};
  std::string text;
  for (const auto& child : children) {
    std::vector<std::string> given;
    for (const auto& member : child.given)
      given.push_back(fmt::format("{} {}", std::string_view(member.key()), to_json_text(member.value())));
    text += fmt::format("\n[{}]", on_one_line(child.name));
    if (!given.empty()) text += fmt::format(" {}", fmt::join(given, ", "));
    for (const auto line : split(child.prompt, '\n')) text += fmt::format("\n  {}", line);
  }
  return text;
}

}  // namespace deputy
