// Permission rules: `Tool`, `Tool(pattern)` or `Tool(!pattern)` (all but), each allowing, asking or denying.
// deny wins over ask wins over allow; where no rule speaks, the tool's own default holds. Pure: parsed once,
// asked often. Rules come in layers, one for each who has a say (a parent, a profile, a call). Each layer
// answers for itself and the strictest answer counts, so an allow lifts the default of its own layer only.
// Who has nothing to say must be left out: a layer without rules still holds the default.
//
// A command (Bash) is taken apart and every part judged; the strictest counts. What cannot be taken apart is
// asked about at best, even where Bash as a whole is allowed, and denied where any pattern of Bash denies or
// the command is too long to be looked at. A redirection is a write, or a read, of its file: Write, Edit and
// Read have a say in it, and an allow with a pattern does not cover it. Writing where it could run code later
// or widen rights (paths.h, protected names) is asked about at least, unless a rule that names that very name
// allows it. Reading is what the rules say: keys and .env files are read unless a rule denies it.
//
// What is denied or asked about for Edit is so for every tool that changes files: who must not edit must not
// write either. What is allowed is allowed for the named tool alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guard/paths.h"
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

  static constexpr std::size_t kMaxSubjectBytes = 16 * 1024;  // patterns are not sure of longer ones

  // `tool` by its canonical name. `subject` is what patterns are matched against: a path as the kernel
  // resolved it, a command, a host.
  Verdict judge(std::string_view tool, std::string_view subject, Decision by_default,
                const Roots& roots = {}) const;
  // The same for Bash.
  Verdict judge_command(std::string_view command, Decision by_default, const Roots& roots = {}) const;
  // Both sets of rules at once: for every call exactly the stricter of what the two say.
  static Rules both(const Rules& a, const Rules& b);
  std::span<const Rule> all() const { return rules_; }
  // Whether some rule denies, or asks about, some call of the tool.
  bool restricts(std::string_view tool, Decision decision) const;

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

  struct Ruling {
    const Rule* rule = nullptr;  // the strictest that speaks, if one does
    RuleMatch match = RuleMatch::yes;
    Decision decision = Decision::allow;  // what it comes to: a deny of what is only named is an ask
  };
  template <typename Match>
  Ruling strictest(Layer layer, std::string_view tool, const Match& match) const;
  template <typename Judge>
  Verdict strictest_of_layers(const Judge& judge) const;
  Verdict judge_path(Layer layer, std::string_view tool, const PathSubject& path, Decision by_default,
                     const Roots& roots) const;
  bool is_allowed_by_name(Layer layer, std::string_view tool, const PathSubject& path,
                          const PathSubject& disguised) const;
  Verdict judge_opaque(Layer layer, const std::string& why, Decision by_default) const;
  Verdict judge_part(Layer layer, const CommandSubject& part, Decision by_default, const Roots& roots) const;
  Verdict judge_redirection(Layer layer, const Redirection& to, const CommandSubject& part,
                            Decision for_writing, const Roots& roots) const;

  std::vector<Rule> rules_;
  std::vector<RulePattern> patterns_;  // of the rule at the same place
  std::vector<std::size_t> ends_;      // of each layer; never empty
};

}  // namespace deputy
