#include "guard/rule_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deputy {
namespace {

constexpr auto kReadingTools = std::to_array<std::string_view>({"Read", "Grep", "Glob", "List"});
constexpr auto kWritingTools = std::to_array<std::string_view>({"Edit", "Write", "NotebookEdit"});

}  // namespace

bool is_writing_tool(std::string_view tool) {
  return std::ranges::find(kWritingTools, tool) != kWritingTools.end();
}

bool is_path_tool(std::string_view tool) {
  return is_writing_tool(tool) || std::ranges::find(kReadingTools, tool) != kReadingTools.end();
}

Result<RulePattern> RulePattern::compile(std::string_view tool, std::string_view text) {
  RulePattern pattern(Everything{});
  if (text.empty()) return pattern;
  pattern.negated_ = text.starts_with('!');
  if (pattern.negated_) text.remove_prefix(1);
  if (text.empty()) {
    return fail(ErrorCode::invalid, "nothing follows the \"!\"", fmt::format("write {}(!pattern)", tool));
  }
  if (is_path_tool(tool)) {
    TRY(pattern.kind_, PathPattern::compile(text));
  } else if (tool == "WebFetch") {
    TRY(pattern.kind_, HostPattern::compile(text));
  } else if (tool == "Bash") {
    TRY(pattern.kind_, CommandPattern::compile(text));
  } else {
    return fail(ErrorCode::invalid, fmt::format("{} takes no pattern", tool),
                fmt::format("write {} alone", tool));
  }
  return pattern;
}

template <typename Pattern, typename Subject>
RuleMatch RulePattern::match_as(const Subject& subject) const {
  if (std::holds_alternative<Everything>(kind_)) return RuleMatch::yes;
  const Pattern* pattern = std::get_if<Pattern>(&kind_);
  const RuleMatch positive = pattern != nullptr ? pattern->match(subject) : RuleMatch::maybe;
  if (!negated_) return positive;
  if (positive == RuleMatch::yes) return RuleMatch::no;
  return positive == RuleMatch::no ? RuleMatch::yes : RuleMatch::maybe;
}

RuleMatch RulePattern::match(const PathSubject& path) const { return match_as<PathPattern>(path); }

RuleMatch RulePattern::match(const CommandSubject& command) const {
  const RuleMatch match = match_as<CommandPattern>(command);
  // Only a pattern that gives such a command word for word is sure of it.
  const bool is_wide = negated_ || std::holds_alternative<Everything>(kind_);
  return is_wide && command.names_protected ? std::min(match, RuleMatch::maybe) : match;
}

RuleMatch RulePattern::match_host(std::string_view host) const { return match_as<HostPattern>(host); }

}  // namespace deputy
