// What stands in the brackets of a rule, and whether a call is meant by it: a path (path_pattern.h), a
// command (command_pattern.h) or a host (host_pattern.h), each of which may be turned round by a "!" before
// it.
#pragma once

#include <string_view>
#include <variant>

#include "base/result.h"
#include "guard/command_pattern.h"
#include "guard/host_pattern.h"
#include "guard/path_pattern.h"
#include "guard/rule_match.h"

namespace deputy {

// Tools whose calls are about a path, and those of them that change it.
bool is_path_tool(std::string_view tool);
bool is_writing_tool(std::string_view tool);

class RulePattern {
 public:
  // `text` as in Rule::pattern; empty means every call.
  static Result<RulePattern> compile(std::string_view tool, std::string_view text);
  // Of a rule that nobody checked: it may match anything.
  static RulePattern uncertain() { return RulePattern(Uncertain{}); }

  // A subject of a kind that the pattern is not about is a maybe.
  RuleMatch match(const PathSubject& path) const;
  RuleMatch match(const CommandSubject& command) const;
  RuleMatch match_host(std::string_view host) const;
  // What is not looked at, being too long or of no kind that patterns are about.
  RuleMatch match_unseen() const {
    return std::holds_alternative<Everything>(kind_) ? RuleMatch::yes : RuleMatch::maybe;
  }

 private:
  struct Everything {};
  struct Uncertain {};
  using Kind = std::variant<Everything, Uncertain, PathPattern, CommandPattern, HostPattern>;
  explicit RulePattern(Kind kind) : kind_(std::move(kind)) {}
  template <typename Pattern, typename Subject>
  RuleMatch match_as(const Subject& subject) const;

  Kind kind_;
  bool negated_ = false;
};

}  // namespace deputy
