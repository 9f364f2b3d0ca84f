#include "tools/approval_rule.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "guard/display.h"
#include "guard/programs.h"
#include "guard/rule_pattern.h"

namespace deputy {
namespace {

constexpr std::size_t kLongest = 200;  // a person has to read it

bool can_stand_as_pattern(std::string_view subject) {
  return !subject.empty() && subject.size() <= kLongest &&
         subject.find_first_of("*?[]{}!\\~\n\t") == std::string_view::npos &&
         made_unmistakable(subject) == subject;
}

// Of a chain the one command that is still asked about, without the redirections that others are to allow.
// What it is fed and what came before may decide what it does, and no rule can tell that: then all of it.
std::string asked_about(const Tool& bash, const std::string& command, const ToolContext& context,
                        const Rules& in_force) {
  const ShellReading parts = read_shell(command);
  if (!parts || (parts->size() == 1 && parts->front().redirections.empty())) return command;
  std::string found;
  bool is_changed = false;
  for (const SimpleCommand& part : *parts) {
    const bool was_changed = std::exchange(is_changed, is_changed || changes_what_follows(part.words));
    const SimpleCommand bare{.words = part.words};
    std::string text = shown(std::span(&bare, 1));
    if (bash.judge(in_force, {{"command", text}}, context).decision == Decision::allow) continue;
    if (was_changed || (is_fed(part) && !only_reads(part.words))) return command;
    if (!found.empty() && found != text) return command;
    found = std::move(text);
  }
  return found;
}

std::optional<std::string> rule_text(const Tool& tool, const json::object& arguments,
                                     const ToolContext& context, const Rules& in_force) {
  const std::string& name = tool.text().name;
  const bool is_path = is_path_tool(name);
  if (!is_path && name != "Bash" && name != "WebFetch") return name;
  std::string subject = context.target ? context.target->name : tool.subject(arguments);
  if (name == "Bash") subject = asked_about(tool, subject, context, in_force);
  if (!can_stand_as_pattern(subject)) return std::nullopt;
  return fmt::format("{}({}{})", name, name == "WebFetch" ? "domain:" : "", subject);
}

}  // namespace

std::optional<std::string> rule_that_allows(const Tool& tool, const json::object& arguments,
                                            const ToolContext& context, const Rules& in_force) {
  auto text = rule_text(tool, arguments, context, in_force);
  if (!text) return std::nullopt;
  const auto rule = parse_rule(Decision::allow, *text);
  if (!rule) return std::nullopt;
  std::vector<Rule> from_now_on(in_force.all().begin(), in_force.all().end());
  from_now_on.push_back(*rule);
  if (tool.judge(Rules(std::move(from_now_on)), arguments, context).decision != Decision::allow)
    return std::nullopt;
  return text;
}

}  // namespace deputy
