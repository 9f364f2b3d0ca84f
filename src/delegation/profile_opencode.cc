// opencode: .opencode/agent/*.md and .opencode/agents/*.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "delegation/foreign_patterns.h"
#include "delegation/opencode_names.h"
#include "delegation/profile_formats.h"
#include "guard/rules.h"

namespace deputy {
namespace {

using namespace opencode;

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

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// A key that names nothing here. What was meant to take something away is left out only where there is
// nothing to take away.
void leave_out(ReadProfile& read, std::string_view key, const ProfileNode& said, bool takes_away) {
  constexpr auto kNotTools = std::to_array<std::string_view>(
      {"external_directory", "doom_loop", "plan_enter", "plan_exit", "repo_clone", "repo_overview"});
  if (std::ranges::find(kNotTools, key) != kNotTools.end()) {
    read.ignored.push_back(fmt::format("the permission {}", key));
    return;
  }
  if (can_be_of_a_server(key) || (is_pattern(key) && !takes_away)) {
    read.warnings.push_back({said.line, fmt::format("{} is left out: no MCP server is connected here", key)});
    return;
  }
  if (is_pattern(key)) {
    read.mistakes.push_back(
        {ErrorCode::invalid, fmt::format("line {}: {} fits no tool here", said.line, key),
         "name what to take away as it is called, or leave it out; tools of a server are server_*"});
    return;
  }
  const ProfileNode named{.kind = ProfileNode::Kind::text, .text = std::string(key), .line = said.line};
  if (takes_away) return remove_tools(read, {&named, 1});
  read.warnings.push_back({said.line, fmt::format("permission for {}, which is no tool here", key)});
}

// The old way: tools by name, true or false, the last one counting. All that is not named is granted.
void read_tools(ProfileFields& fields, ReadProfile& read) {
  add_all_tools(read);
  const ProfileNode* value = fields.take("tools");
  if (!value) return;
  if (value->kind != ProfileNode::Kind::map)
    keep_mistake(read, wrong_value(*value, "tools", "a table of names with true or false"));
  for (const auto& [key, said] :
       value->kind == ProfileNode::Kind::map ? entries_of(*value) : std::vector<Entry>{}) {
    const auto truth = truth_in(said, fmt::format("tools.{}", key));
    if (!truth) keep_mistake(read, std::unexpected(truth.error()));
    const bool is_granted = truth.value_or(false);
    const bool means_all = trimmed(key) == "*";
    auto meant = means_all ? std::vector<std::string>{"*"} : tools_named(key);
    if (meant.empty() && !is_pattern(key) && !can_be_of_a_server(key)) meant.emplace_back(key);
    if (meant.empty()) leave_out(read, key, said, !is_granted);
    if (means_all && !is_granted) read.profile.subagents.clear();
    for (const auto& tool : meant) {
      const ProfileNode named{.kind = ProfileNode::Kind::text, .text = tool, .line = said.line};
      is_granted ? add_tools(read, {&named, 1}) : remove_tools(read, {&named, 1});
    }
  }
}

struct Saying {
  std::string_view key;
  Entry of;  // a pattern, and what is decided for it
  std::vector<std::string> tools = tools_named(key);
};

Decision decision_in(const ProfileNode& node) {
  if (node.text == "allow") return Decision::allow;
  return node.text == "ask" ? Decision::ask : Decision::deny;
}

bool is_decision(const ProfileNode& node) {
  return node.kind == ProfileNode::Kind::text && node.text == name_of(decision_in(node));
}

// Of a table: a tool, or a pattern of names, with one word for all of it or a table of patterns.
std::vector<Saying> sayings_in_table(ReadProfile& read, const ProfileNode& table, std::string_view field) {
  std::vector<Saying> sayings;
  for (const auto& [key, value] : entries_of(table)) {
    const bool has_patterns = value.kind == ProfileNode::Kind::map;
    for (const auto& entry : has_patterns ? entries_of(value) : std::vector<Entry>{{"*", value}}) {
      if (is_decision(entry.value)) {
        sayings.push_back({key, entry});
      } else {
        keep_mistake(read, wrong_value(entry.value, fmt::format("{}.{}", field, key), "allow, ask or deny"));
      }
    }
  }
  return sayings;
}

// Of their newer way: a list of rules, each with an action (the tool), a resource and an effect.
std::vector<Saying> sayings_in_list(ReadProfile& read, const ProfileNode& list, std::string_view field) {
  std::vector<Saying> sayings;
  for (const auto& rule : list.items) {
    std::string_view action;
    std::string_view resource = "*";
    const ProfileNode* effect = nullptr;
    const bool is_table = rule.kind == ProfileNode::Kind::map;
    for (const auto& [key, value] : is_table ? entries_of(rule) : std::vector<Entry>{}) {
      if (key == "action") action = value.text;
      if (key == "resource") resource = value.text;
      if (key == "effect") effect = &value;
    }
    if (action.empty() || resource.empty() || !effect || !is_decision(*effect)) {
      keep_mistake(read, wrong_value(rule, field, "a list of rules, each with action, resource and effect"));
      continue;
    }
    if (action == "shell") action = "bash";
    if (action == "subagent") action = "task";
    sayings.push_back({action, {resource, *effect}});
  }
  return sayings;
}

std::vector<Saying> sayings_in(ReadProfile& read, const ProfileNode& value, std::string_view field) {
  if (value.kind == ProfileNode::Kind::map) return sayings_in_table(read, value, field);
  if (value.kind == ProfileNode::Kind::list) return sayings_in_list(read, value, field);
  if (is_decision(value)) return {{"*", {"*", value}}};
  keep_mistake(read, wrong_value(value, field, "allow, ask or deny, or a table of tools with these"));
  return {};
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

// Theirs: the last pattern that fits decides. So a general word voids what stands before it.
std::span<const Entry> in_force(std::span<const Entry> all) {
  for (std::size_t i = all.size(); i-- > 0;) {
    if (is_general(all[i].key)) return all.subspan(i);
  }
  return all;
}

bool has_decision(std::span<const Entry> entries, std::string_view decision) {
  return std::ranges::any_of(entries, [&](const Entry& entry) { return entry.value.text == decision; });
}

// The rule that a pattern of theirs comes to; empty where none of ours can say it.
std::string rule_for(std::string_view tool, const Entry& entry) {
  if (is_general(entry.key)) return std::string(tool);
  const Decision decision = decision_in(entry.value);
  const std::string pattern = opencode_pattern(tool, entry.key, decision);
  std::string rule = fmt::format("{}({})", tool, pattern);
  return !pattern.empty() && parse_rule(decision, rule) ? rule : "";
}

void add_decision(ReadProfile& read, std::string_view tool, const Entry& entry) {
  const Decision decision = decision_in(entry.value);
  std::string rule = rule_for(tool, entry);
  if (rule.empty()) {
    const std::string_view instead = decision == Decision::allow ? "it allows nothing"
                                     : decision == Decision::ask ? "all of it is asked about"
                                                                 : "all of it is denied";
    read.warnings.push_back(
        {entry.value.line, fmt::format("no rule here can say {} of {}: {}",
                                       shorten(on_one_line(made_visible(entry.key)), 60), tool, instead)});
    if (decision == Decision::allow) return;
    rule = tool;
  }
  if (rule == tool && decision == Decision::deny)
    std::erase(read.profile.tools, tool);  // nor is it offered there
  add_rule(read, decision, std::move(rule), entry.value.line);
}

// Ours: the strictest. So a general "deny" has no exceptions, a general "allow" needs none, and a general
// "ask" is left to the tool's default where that asks and some pattern allows more: else it is a rule.
void add_patterns(ReadProfile& read, std::string_view tool, std::span<const Entry> entries) {
  std::string_view general;
  if (is_general(entries.front().key)) general = entries.front().value.text;
  const bool has_exceptions = std::ranges::any_of(entries, [tool](const Entry& entry) {
    return entry.value.text == "allow" && !rule_for(tool, entry).empty();
  });
  for (const auto& entry : entries) {
    const auto& [pattern, decision] = entry;
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
    add_decision(read, tool, entry);
  }
}

// Here the patterns are names of agents. No rule of ours knows these, so what is denied leaves those alone
// that are allowed by name after a general "deny".
void narrow_subagents(ReadProfile& read, std::span<const Entry> entries) {
  if (read.profile.subagents.empty()) return;
  Permissions& permissions = read.profile.permissions;
  if (has_decision(entries, "ask")) permissions.ask.insert(permissions.ask.end(), {"task", "spawn_subagent"});
  if (!has_decision(entries, "deny")) return;
  std::vector<std::string>& declared = read.profile.subagents;
  const bool declares_all = holds(declared, "*");
  std::vector<std::string> left;
  if (is_general(entries.front().key) && entries.front().value.text == "deny") {
    for (const auto& [name, decision] : entries) {
      if (decision.text != "allow") {
        std::erase_if(left, [&](const std::string& each) { return fits(name, each); });
      } else if (!is_pattern(name) && (declares_all || holds(declared, name))) {
        left.emplace_back(name);
      }
    }
  }
  declared = std::move(left);
  read.mapped.emplace_back("the permission task → subagents");
}

void read_permission(ReadProfile& read, const ProfileNode& value, std::string_view field) {
  const auto sayings = sayings_in(read, value, field);
  for (const auto& [key, entry, tools] : sayings) {
    const bool permits = entry.value.text == "allow";
    if (tools.empty()) {
      leave_out(read, key, entry.value, !permits);
    } else if (permits && !is_their_word(key)) {
      read.warnings.push_back(
          {entry.value.line, fmt::format("permission for {} is left out: it permits nothing there", key)});
    }
  }
  // Only their own word for a tool permits, and voids what was said before: by any other name it is only
  // forbidden.
  for (const auto& [tool, their_word] : kTheirWords) {
    std::vector<Entry> all;
    std::vector<Entry> beside;
    for (const auto& [key, entry, tools] : sayings) {
      if (fits(key, their_word)) {
        all.push_back(entry);
      } else if (entry.value.text != "allow" && holds(tools, tool)) {
        beside.push_back(entry);
      }
    }
    for (const auto entries : {in_force(all), std::span<const Entry>(beside)}) {
      if (entries.empty()) continue;
      if (tool == "task") {
        narrow_subagents(read, entries);
      } else {
        add_patterns(read, tool, entries);
      }
    }
  }
}

// Both ways, the older and the newer: what either forbids is forbidden.
void read_permissions(ProfileFields& fields, ReadProfile& read) {
  if (const ProfileNode* value = fields.take("permission", "permissions"))
    read_permission(read, *value, "permission");
  if (const ProfileNode* value = fields.take("permissions")) read_permission(read, *value, "permissions");
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
  name_profile(read, name ? std::string_view(*name) : stem);
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto prompt, fields.text("prompt", "the instructions"));
  TRY(const auto system, fields.text("system", "the instructions"));
  if (profile.instructions.empty()) profile.instructions = prompt.value_or(system.value_or(""));
  read_tools(fields, read);
  read_permissions(fields, read);
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
