#include "guard/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"

namespace deputy {
namespace {

constexpr int kVersion = 1;

std::optional<Decision> decision_from(std::string_view name) {
  for (const Decision decision : {Decision::allow, Decision::ask, Decision::deny}) {
    if (name_of(decision) == name) return decision;
  }
  return std::nullopt;
}

std::unexpected<Error> corrupt(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("the stored permission rules cannot be read: {}", what));
}

Result<Rule> rule_from_json(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return corrupt("a rule is not an object");
  const auto decision = decision_from(string_or(*object, "decision", ""));
  const auto tool = string_at(*object, "tool");
  if (!decision || !tool || tool->empty()) return corrupt("a rule lacks its decision or its tool");
  Rule rule{*decision, *tool, string_or(*object, "pattern", "")};
  TRY(RulePattern::compile(rule.tool, rule.pattern));
  return rule;
}

}  // namespace

std::string_view name_of(Decision decision) {
  switch (decision) {
    case Decision::allow:
      return "allow";
    case Decision::ask:
      return "ask";
    case Decision::deny:
      return "deny";
  }
  return "deny";
}

std::string to_text(const Rule& rule) {
  return rule.pattern.empty() ? rule.tool : fmt::format("{}({})", rule.tool, rule.pattern);
}

Rules::Rules(std::vector<Rule> rules) { add_layer(rules); }

void Rules::add_layer(std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    auto pattern = RulePattern::compile(rule.tool, rule.pattern);
    patterns_.push_back(pattern ? *std::move(pattern) : RulePattern::uncertain());
    rules_.push_back(rule);
  }
  ends_.push_back(rules_.size());
}

std::span<const Rule> Rules::rules_of(std::size_t index) const {
  const auto [begin, end] = layer(index);
  return std::span(rules_).subspan(begin, end - begin);
}

Rules Rules::both(const Rules& a, const Rules& b) {
  Rules met = a;
  for (std::size_t index = 0; index < b.ends_.size(); ++index) {
    // Saying the same twice changes nothing: a deep tree must not make a long list.
    const auto rules = b.rules_of(index);
    bool is_known = false;
    for (std::size_t known = 0; known < met.ends_.size() && !is_known; ++known) {
      is_known = std::ranges::equal(met.rules_of(known), rules);
    }
    if (is_known) continue;
    const auto [begin, end] = b.layer(index);
    const auto patterns = std::span(b.patterns_).subspan(begin, end - begin);
    met.rules_.insert(met.rules_.end(), rules.begin(), rules.end());
    met.patterns_.insert(met.patterns_.end(), patterns.begin(), patterns.end());
    met.ends_.push_back(met.rules_.size());
  }
  return met;
}

std::string Rules::to_json() const {
  json::array layers;
  for (std::size_t index = 0; index < ends_.size(); ++index) {
    json::array rules;
    for (const Rule& rule : rules_of(index)) {
      json::object object{{"decision", name_of(rule.decision)}, {"tool", rule.tool}};
      if (!rule.pattern.empty()) object["pattern"] = rule.pattern;
      rules.push_back(std::move(object));
    }
    layers.push_back(std::move(rules));
  }
  return to_json_text(json::object{{"v", kVersion}, {"layers", std::move(layers)}});
}

Result<Rules> Rules::from_json(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  const auto version = integer_or(object, "v", 0);
  if (version > kVersion) {
    return fail(ErrorCode::too_new, fmt::format("the stored permission rules have version {}", version),
                "use the version of deputy that wrote them, or a newer one");
  }
  const json::array* layers = array_at(object, "layers");
  if (version != kVersion || layers == nullptr || layers->empty()) return corrupt("no layers of rules in it");
  Rules rules;
  rules.ends_.clear();
  for (const json::value& layer : *layers) {
    if (!layer.is_array()) return corrupt("a layer is not a list");
    std::vector<Rule> of_layer;
    for (const json::value& value : layer.get_array()) {
      TRY(Rule rule, rule_from_json(value));
      of_layer.push_back(std::move(rule));
    }
    rules.add_layer(of_layer);
  }
  return rules;
}

}  // namespace deputy
