// opencode: .opencode/agent/*.md and .opencode/agents/*.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

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

// A key of their table of tools: a name, or a pattern of names. Nothing where it can only be a tool of an MCP
// server, which they call server_tool.
std::vector<std::string> tools_named(std::string_view key) {
  if (trimmed(key) == "*") return {"*"};
  if (!key.ends_with('*')) {
    std::vector<std::string> meant = tools_meant(key);
    return !is_tool_name(meant.front()) && key.contains('_') ? std::vector<std::string>{} : meant;
  }
  const std::string beginning = lowered(key.substr(0, key.size() - 1));
  std::vector<std::string> meant;
  for (const auto& tool : tool_names()) {
    if (!lowered(tool).starts_with(beginning)) continue;
    const auto each = tools_meant(tool);
    meant.insert(meant.end(), each.begin(), each.end());
  }
  return meant;
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
  for (const auto& [key, said] : entries_of(*value)) {
    TRY(const bool is_granted, truth_in(said, fmt::format("tools.{}", key)));
    const auto meant = tools_named(key);
    if (meant.empty()) {
      read.warnings.push_back(
          {said.line, fmt::format("{} is left out: no MCP server is connected here", key)});
    }
    for (const auto& tool : meant)
      (is_granted ? granted : refused)
          .push_back({.kind = ProfileNode::Kind::text, .text = tool, .line = said.line});
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
  return wrong_value(value, key, "allow, ask or deny");
}

bool is_general(std::string_view pattern) {
  pattern = trimmed(pattern);
  return pattern == "*" || pattern == "**";
}

bool asks_by_default(std::string_view tool) {
  constexpr auto kAsking =
      std::to_array<std::string_view>({"Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch"});
  return std::ranges::find(kAsking, tool) != kAsking.end();
}

// Theirs: the last pattern that fits decides. Ours: the strictest. So a general word voids what stands before
// it; of what follows, a general "deny" has no exceptions, a general "allow" needs none, and a general "ask"
// is left to the tool's default where that asks and some pattern allows more: else it is a rule.
Result<void> add_patterns(ReadProfile& read, std::string_view tool, const ProfileNode& value) {
  const std::vector<Entry> all = entries_of(value);
  std::span<const Entry> entries = all;
  std::string_view general;
  for (std::size_t i = all.size(); i-- > 0 && general.empty();) {
    if (!is_general(all[i].key)) continue;
    general = all[i].value.text;
    entries = entries.subspan(i);
  }
  const bool has_exceptions =
      std::ranges::any_of(entries, [](const Entry& entry) { return entry.value.text == "allow"; });
  for (const auto& [pattern, decision] : entries) {
    const bool is_rest = is_general(pattern);
    if (is_rest && decision.text == "ask" && has_exceptions && asks_by_default(tool)) continue;
    if (decision.text == "allow" && general == "allow")
      continue;  // what nothing is said of stays as the parent has it
    const bool is_in_vain =
        general == "deny" || (general == "ask" && has_exceptions && !asks_by_default(tool));
    if (!is_rest && decision.text == "allow" && is_in_vain) {
      read.warnings.push_back(
          {decision.line, fmt::format("{} stays {} with the rest of {}", pattern,
                                      general == "deny" ? "denied" : "asked about", tool)});
      continue;
    }
    const std::string rule =
        is_rest ? std::string(tool)
                : fmt::format("{}({})", tool, tool == "Bash" ? pattern_of(pattern) : pattern);
    TRY(add_decision(read.profile.permissions, decision, fmt::format("permission.{}", tool), rule));
  }
  return {};
}

// One word for all: an "allow" leaves each tool as the parent has it.
Result<void> decide_all(ReadProfile& read, const ProfileNode& value, std::string_view key) {
  if (value.text == "allow") return {};
  for (const auto& tool : tool_names()) TRY(add_decision(read.profile.permissions, value, key, tool));
  return {};
}

Result<void> read_permission(ProfileFields& fields, ReadProfile& read) {
  const ProfileNode* value = fields.take("permission", "permissions");
  if (!value) return {};
  if (value->kind == ProfileNode::Kind::text) return decide_all(read, *value, "permission");
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
        TRY(add_decision(read.profile.permissions, decision, fmt::format("permission.{}", key), tool));
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
