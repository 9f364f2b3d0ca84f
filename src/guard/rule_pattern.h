// What stands in the brackets of a rule, and whether a call is meant by it. Paths are matched by Glob against
// the path relative to the workspace, hosts by name, commands not yet: until they are parsed, a pattern about
// a command is never certain to match. Where it cannot be told whether a call is meant the answer is maybe:
// nobody may be allowed, and everybody must be denied, by a maybe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "guard/glob.h"

namespace deputy {

enum class RuleMatch { no, maybe, yes };

class RulePattern {
 public:
  static constexpr std::size_t kMaxCommandBytes = 4096;
  static constexpr std::size_t kMaxSubjectBytes = 16 * 1024;  // longer ones are not looked at: maybe

  // `text` as in Rule::pattern; empty means every call.
  static Result<RulePattern> compile(std::string_view tool, std::string_view text);
  // Of a rule that nobody checked: it may match anything.
  static RulePattern uncertain() { return RulePattern(Kind::uncertain); }

  RuleMatch match(std::string_view subject) const;

 private:
  enum class Kind { everything, uncertain, path, host };
  explicit RulePattern(Kind kind) : kind_(kind) {}
  RuleMatch match_positive(std::string_view subject) const;
  RuleMatch match_path(std::string_view subject) const;
  RuleMatch match_host(std::string_view subject) const;

  Kind kind_ = Kind::everything;
  bool negated_ = false;
  Glob glob_;
  std::string host_;
};

}  // namespace deputy
