// opencode: .opencode/agent/*.md and .opencode/agents/*.md.
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "delegation/profile_formats.h"
#include "guard/tool_names.h"

namespace deputy {
namespace {

constexpr auto kWithoutMeaning =
    std::to_array<std::string_view>({"temperature", "top_p", "variant", "color", "options", "request"});

struct Entry {
  std::string_view key;
  const ProfileNode& value;
};

std::vector<Entry> entries_of(const ProfileNode& map) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < map.items.size(); ++i) entries.push_back({map.keys[i], map.items[i]});
  return entries;
}

// What one word of theirs stands for: edit is every change of a file.
std::vector<std::string> tools_meant(std::string_view word) {
  const std::string tool = canonical_tool_name(word);
  if (tool == "Edit" || tool == "Write") return {"Edit", "Write", "NotebookEdit"};
  return {tool};
}

// The old way: tools by name, true or false. All that is not named is granted.
Result<void> read_tools(ProfileFields& fields, ReadProfile& read) {
  TRY(add_all_tools(read));
  const ProfileNode* value = fields.take("tools");
  if (!value) return {};
  if (value->kind != ProfileNode::Kind::map)
    return wrong_value(*value, "tools", "a table of names with true or false");
  std::vector<ProfileNode> granted;
  std::vector<ProfileNode> refused;
  for (const auto& [key, is_granted] : entries_of(*value)) {
    if (is_granted.text != "true" && is_granted.text != "false")
      return wrong_value(is_granted, fmt::format("tools.{}", key), "true or false");
    auto& list = is_granted.text == "true" ? granted : refused;
    for (auto& tool : tools_meant(key))
      list.push_back({.kind = ProfileNode::Kind::text, .text = std::move(tool), .line = is_granted.line});
  }
  TRY(remove_tools(read, refused));
  return add_tools(read, granted);
}

// Their pattern of a command, which is matched against all of it, as ours.
std::string pattern_of(std::string_view glob) {
  if (!glob.ends_with('*')) return std::string(glob);
  const std::string_view words = trimmed(glob.substr(0, glob.size() - 1));
  return words.contains('*') ? std::string(glob) : fmt::format("{}:*", words);
}

Result<void> add_decision(Permissions& permissions, const ProfileNode& value, std::string_view key,
                          const std::string& rule) {
  if (value.text == "deny") return add_rule(permissions.deny, rule, value.line);
  if (value.text == "ask") return add_rule(permissions.ask, rule, value.line);
  if (value.text == "allow") return add_rule(permissions.allow, rule, value.line);
  return wrong_value(value, fmt::format("permission.{}", key), "allow, ask or deny");
}

// Theirs: the last pattern that fits decides. Ours: the strictest. So what a general "ask" leaves to its
// exceptions is left to the default, which asks, and a general "deny" has none.
Result<void> add_patterns(ReadProfile& read, std::string_view tool, const ProfileNode& value) {
  std::string_view general;
  for (const auto& [pattern, decision] : entries_of(value)) {
    if (trimmed(pattern) == "*") general = decision.text;
  }
  for (const auto& [pattern, decision] : entries_of(value)) {
    const bool is_general = trimmed(pattern) == "*";
    if (is_general && decision.text == "ask" && value.items.size() > 1) continue;
    if (is_general && decision.text == "allow")
      continue;  // what nothing is said of stays as the parent has it
    if (!is_general && decision.text == "allow" && general == "deny") {
      read.warnings.push_back(
          {decision.line, fmt::format("{} stays denied with the rest of {}", pattern, tool)});
      continue;
    }
    const std::string rule =
        is_general ? std::string(tool)
                   : fmt::format("{}({})", tool, tool == "Bash" ? pattern_of(pattern) : pattern);
    TRY(add_decision(read.profile.permissions, decision, tool, rule));
  }
  return {};
}

Result<void> read_permission(ProfileFields& fields, ReadProfile& read) {
  const ProfileNode* value = fields.take("permission", "permissions");
  if (!value) return {};
  if (value->kind != ProfileNode::Kind::map)
    return wrong_value(*value, "permission", "a table of tools with allow, ask or deny");
  for (const auto& [key, decision] : entries_of(*value)) {
    const auto meant = trimmed(key) == "*" ? tool_names() : tools_meant(key);
    for (const auto& tool : meant) {
      if (!is_tool_name(tool)) {
        read.warnings.push_back(
            {decision.line, fmt::format("permission for {}, which is no tool here", key)});
      } else if (decision.kind == ProfileNode::Kind::map) {
        TRY(add_patterns(read, tool, decision));
      } else if (decision.text != "allow") {
        TRY(add_decision(read.profile.permissions, decision, key, tool));
      }
    }
  }
  return {};
}

Result<void> read_mode(ProfileFields& fields, ReadProfile& read) {
  TRY(const auto mode, fields.text("mode"));
  TRY(const auto hidden, fields.truth("hidden"));
  TRY(const auto disable, fields.truth("disable"));
  TRY(const auto disabled, fields.truth("disabled"));
  read.is_disabled = disable.value_or(false) || disabled.value_or(false);
  read.profile.hidden = hidden.value_or(false) || mode == "primary";
  if (mode == "primary") read.mapped.emplace_back("mode primary → not delegated to");
  return {};
}

}  // namespace

Result<void> read_opencode_profile(const MarkdownProfile& file, std::string_view stem, ReadProfile& read) {
  ProfileFields fields(file.head, read);
  Profile& profile = read.profile;
  TRY(const auto name, fields.text("name"));
  TRY(profile.name, profile_name(name ? *name : std::string(stem), read));
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto prompt, fields.text("prompt", "the instructions"));
  TRY(const auto system, fields.text("system", "the instructions"));
  if (profile.instructions.empty()) profile.instructions = prompt.value_or(system.value_or(""));
  TRY(read_tools(fields, read));
  TRY(read_permission(fields, read));
  TRY(read_mode(fields, read));
  TRY(const auto model, fields.text("model"));
  profile.model = foreign_model(model.value_or(""), "compatible", read);
  TRY(const auto old_steps, fields.number("maxSteps", "max_turns"));
  TRY(const auto steps, fields.number("steps", "max_turns"));
  profile.max_turns = steps ? steps : old_steps;
  profile.network = true;
  settle(read, std::nullopt);
  fields.ignore(kWithoutMeaning);
  fields.finish();
  return {};
}

}  // namespace deputy
