// Permission rules: `Tool`, `Tool(pattern)` or `Tool(!pattern)` (all but), each allowing, asking or denying.
// deny wins over ask wins over allow; where no rule speaks, the tool's own default holds. Pure: parsed once,
// asked often. Rules come in layers, one for each who has a say (a parent, a profile, a call). Each layer
// answers for itself and the strictest answer counts, so an allow lifts the default of its own layer only.
// Who has nothing to say must be left out: a layer without rules still holds the default.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guard/rule_pattern.h"
#include "guard/verdict.h"

namespace deputy {

std::string_view name_of(Decision decision);

struct Rule {
  Decision decision = Decision::ask;
  std::string tool;
  std::string pattern;  // empty: every call of the tool
  bool operator==(const Rule&) const = default;
};

// Also `tool:*` and `tool:pattern`. Tools go by any of their names; `further_tools` are known besides ours.
Result<Rule> parse_rule(Decision decision, std::string_view text,
                        std::span<const std::string> further_tools = {});
// As it would be written: "Read(**/.env)".
std::string to_text(const Rule& rule);

class Rules {
 public:
  Rules() : Rules(std::vector<Rule>{}) {}
  explicit Rules(std::vector<Rule> rules);

  // `tool` by its canonical name. `subject` is what patterns are matched against: a path, a command, a host.
  Verdict judge(std::string_view tool, std::string_view subject, Decision by_default) const;
  // Both sets of rules at once: for every call exactly the stricter of what the two say.
  static Rules both(const Rules& a, const Rules& b);
  std::span<const Rule> all() const { return rules_; }

  std::string to_json() const;
  static Result<Rules> from_json(std::string_view text);

  bool operator==(const Rules& other) const { return rules_ == other.rules_ && ends_ == other.ends_; }

 private:
  struct Layer {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Layer layer(std::size_t index) const { return {index == 0 ? 0 : ends_[index - 1], ends_[index]}; }
  std::span<const Rule> rules_of(std::size_t index) const;
  void add_layer(std::span<const Rule> rules);
  Verdict judge_in(Layer layer, std::string_view tool, std::string_view subject, Decision by_default) const;

  std::vector<Rule> rules_;
  std::vector<RulePattern> patterns_;  // of the rule at the same place
  std::vector<std::size_t> ends_;      // of each layer; never empty
};

}  // namespace deputy
