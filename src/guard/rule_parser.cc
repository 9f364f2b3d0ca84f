#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "guard/rules.h"
#include "guard/tool_names.h"

namespace deputy {
namespace {

constexpr std::string_view kExamples =
    "write a tool, or a tool and a pattern: Read, Edit(src/**), Bash(git status:*)";

// A rule may be of any length and hold anything; a message about it may not.
std::string quoted(std::string_view text) { return made_visible(shorten(text, 120)); }

struct Parts {
  std::string_view tool;
  std::string_view pattern;
};

Result<Parts> parts_of(std::string_view text) {
  const std::size_t opening = text.find('(');
  if (opening == std::string_view::npos) {
    if (text.contains(')')) {
      return fail(ErrorCode::invalid, fmt::format("the rule {} has a ) without (", quoted(text)),
                  std::string(kExamples));
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return Parts{text, {}};
    const std::string_view pattern = trimmed(text.substr(colon + 1));
    if (!pattern.empty()) return Parts{trimmed(text.substr(0, colon)), pattern};
    return fail(ErrorCode::invalid, fmt::format("nothing follows the colon in {}", quoted(text)),
                "write bash:*, or Bash");
  }
  if (!text.ends_with(')')) {
    return fail(ErrorCode::invalid, fmt::format("the rule {} does not end with )", quoted(text)),
                std::string(kExamples));
  }
  const std::string_view pattern = trimmed(text.substr(opening + 1, text.size() - opening - 2));
  if (!pattern.empty()) return Parts{trimmed(text.substr(0, opening)), pattern};
  return fail(ErrorCode::invalid, fmt::format("nothing stands in the brackets of {}", quoted(text)),
              "leave the brackets out to mean every call of the tool");
}

Error unknown_tool(std::string_view name, std::span<const std::string> further_tools) {
  std::vector<std::string> known = tool_names();
  known.insert(known.end(), further_tools.begin(), further_tools.end());
  const std::vector<std::string> near = nearest(name, known);
  return {ErrorCode::invalid, fmt::format("there is no tool \"{}\"", quoted(name)),
          near.empty() ? fmt::format("the tools are {}", fmt::join(known, ", "))
                       : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

bool means_everything(std::string_view pattern) {
  return pattern == "*" || pattern == "**" || pattern == ":*";
}

// A folder is denied with all beneath it, so these leave nothing out; an allow of them would not hold
// elsewhere.
bool means_every_path(std::string_view pattern) {
  return pattern == "/" || pattern == "/**" || pattern == "**/" || pattern == "**/*" || pattern == "**/**";
}

}  // namespace

Result<Rule> parse_rule(Decision decision, std::string_view text,
                        std::span<const std::string> further_tools) {
  text = trimmed(text);
  if (text.empty()) return fail(ErrorCode::invalid, "the rule is empty", std::string(kExamples));
  if (!is_utf8(text) || text.contains('\0')) {
    return fail(ErrorCode::invalid, fmt::format("the rule {} is not plain text", quoted(to_utf8(text))),
                "rules are UTF-8 without NUL bytes");
  }
  TRY(const Parts parts, parts_of(text));
  std::string tool(parts.tool);
  if (std::ranges::find(further_tools, tool) == further_tools.end()) {
    tool = canonical_tool_name(tool);
    if (!is_tool_name(tool)) return std::unexpected(unknown_tool(tool, further_tools));
  }
  const bool is_wide = means_everything(parts.pattern) ||
                       (decision == Decision::deny && is_path_tool(tool) && means_every_path(parts.pattern));
  Rule rule{decision, std::move(tool), is_wide ? "" : std::string(parts.pattern)};
  TRY(RulePattern::compile(rule.tool, rule.pattern));
  if (decision == Decision::allow && rule.tool == "Bash" && CommandPattern::ends_within_word(rule.pattern) &&
      !rule.pattern.starts_with('!')) {
    return fail(ErrorCode::invalid,
                fmt::format("the pattern {} ends within a word, so nobody knows what it would allow",
                            quoted(rule.pattern)),
                "allow whole words, git status:*; only ask and deny take a part of one");
  }
  return rule;
}

}  // namespace deputy
