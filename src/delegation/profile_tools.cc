#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "delegation/profile_fields.h"
#include "guard/rules.h"
#include "guard/tool_names.h"
#include "model/catalog.h"

namespace deputy {
namespace {

constexpr auto kAllTools =
    std::to_array<std::string_view>({"Read", "Grep", "Glob", "List", "Edit", "Write", "NotebookEdit", "Bash",
                                     "WebFetch", "WebSearch", "Todo", "Note"});

// Tools of other programs that have no like here, lower case and without '_' and '-'.
constexpr auto kElsewhere = std::to_array<std::string_view>(
    {"skill", "slashcommand", "exitplanmode", "enterplanmode", "askuserquestion", "question", "lsp",
     "listmcpresources", "listmcpresourcestool", "readmcpresource", "readmcpresourcetool", "toolsearch",
     "savememory", "memory", "codesearch", "activateskill", "monitor", "viewimage"});

struct Written {
  std::string name;
  std::string pattern;  // what stands in its brackets
};

Written parts_of(std::string_view text) {
  const std::size_t bracket = text.find('(');
  if (bracket == std::string_view::npos || !text.ends_with(')')) return {std::string(trimmed(text)), ""};
  return {std::string(trimmed(text.substr(0, bracket))),
          std::string(trimmed(text.substr(bracket + 1, text.size() - bracket - 2)))};
}

std::string shown(std::string_view text) { return shorten(on_one_line(made_visible(text)), 60); }

bool is_from_elsewhere(std::string_view name) {
  std::string folded = lowered(name);
  std::erase_if(folded, [](char c) { return c == '_' || c == '-'; });
  return std::ranges::find(kElsewhere, folded) != kElsewhere.end();
}

void grant(Profile& profile, std::string_view tool) {
  if (std::ranges::find(profile.tools, tool) == profile.tools.end()) profile.tools.emplace_back(tool);
}

void declare(Profile& profile, std::string_view names) {
  if (trimmed(names).empty()) names = "*";
  for (const auto name : split(names, ',')) {
    const std::string agent(trimmed(name));
    if (!agent.empty() && std::ranges::find(profile.subagents, agent) == profile.subagents.end())
      profile.subagents.push_back(agent);
  }
}

std::string no_such_tool(const std::string& name) {
  const auto near = nearest(name, tool_names(), 1);
  return near.empty() ? fmt::format("there is no tool {}", shown(name))
                      : fmt::format("there is no tool {}; did you mean {}?", shown(name), near.front());
}

// Of a list of tools: what other programs have and this one has not is told, and goes no further.
bool is_left_out(ReadProfile& read, const std::string& name, int line) {
  if (is_from_elsewhere(name)) {
    read.ignored.push_back(fmt::format("the tool {}", shown(name)));
    return true;
  }
  if (!name.starts_with("mcp_")) return false;
  read.warnings.push_back(
      {line, fmt::format("{} is left out: no MCP server is connected here", shown(name))});
  return true;
}

std::string rule_of(std::string_view tool, std::string_view pattern, Decision decision,
                    PatternReader pattern_of) {
  return fmt::format("{}({})", tool, pattern_of ? pattern_of(tool, pattern, decision) : std::string(pattern));
}

void add_tool(ReadProfile& read, const ProfileNode& written, PatternReader pattern_of) {
  const auto [name, pattern] = parts_of(written.text);
  if (name.empty()) return;
  if (name == "*") return add_all_tools(read);
  const std::string tool = canonical_tool_name(name);
  if (tool == "task") {
    declare(read.profile, pattern);
    read.mapped.push_back(fmt::format("{} → subagents", shown(written.text)));
    return;
  }
  if (is_left_out(read, name, written.line)) return;
  if (!is_tool_name(tool)) {
    read.no_tools.push_back({ErrorCode::invalid, fmt::format("line {}: {}", written.line, no_such_tool(name)),
                             "mend it, or leave it out"});
  }
  if (tool != name) read.mapped.push_back(fmt::format("{} → {}", shown(name), tool));
  grant(read.profile, tool);
  if (pattern.empty() || !is_tool_name(tool)) return;
  read.mapped.push_back(fmt::format("{} → {} and a rule that allows it", shown(written.text), tool));
  for (const auto part : split(pattern, ','))
    add_rule(read, Decision::allow, rule_of(tool, trimmed(part), Decision::allow, pattern_of), written.line);
}

}  // namespace

void keep_mistake(ReadProfile& read, Result<void> done) {
  if (!done) read.mistakes.push_back(std::move(done).error());
}

void add_tools(ReadProfile& read, std::span<const ProfileNode> written, PatternReader pattern_of) {
  for (const auto& each : written) add_tool(read, each, pattern_of);
}

void add_all_tools(ReadProfile& read) {
  for (const auto tool : kAllTools) grant(read.profile, tool);
}

void remove_tools(ReadProfile& read, std::span<const ProfileNode> written, PatternReader pattern_of) {
  for (const auto& each : written) {
    const auto [name, pattern] = parts_of(each.text);
    const std::string tool = canonical_tool_name(name);
    if (name.empty()) continue;
    if (name == "*") {
      read.profile.tools.clear();
    } else if (tool == "task") {
      read.profile.subagents.clear();
    } else if (is_left_out(read, name, each.line)) {
      continue;
    } else if (!is_tool_name(tool)) {
      read.mistakes.push_back({ErrorCode::invalid, fmt::format("line {}: {}", each.line, no_such_tool(name)),
                               "name the tool to take away as it is called, or leave it out"});
    } else if (!pattern.empty()) {
      add_rule(read, Decision::deny, rule_of(tool, pattern, Decision::deny, pattern_of), each.line);
    } else {
      std::erase(read.profile.tools, tool);
    }
  }
}

void add_rule(ReadProfile& read, Decision decision, std::string rule, int line) {
  if (const auto parsed = parse_rule(decision, rule); !parsed) {
    read.mistakes.push_back({ErrorCode::invalid, fmt::format("line {}: {}", line, parsed.error().message),
                             parsed.error().advice});
    return;
  }
  Permissions& permissions = read.profile.permissions;
  auto& rules = decision == Decision::deny  ? permissions.deny
                : decision == Decision::ask ? permissions.ask
                                            : permissions.allow;
  rules.push_back(std::move(rule));
}

void settle(ReadProfile& read, std::optional<WorkspaceMode> workspace) {
  Profile& profile = read.profile;
  const bool changes_things = std::ranges::any_of(profile.tools, [](std::string_view tool) {
    return tool == "Write" || tool == "Edit" || tool == "NotebookEdit" || tool == "Bash";
  });
  profile.workspace = workspace.value_or(changes_things ? WorkspaceMode::shared : WorkspaceMode::read_only);
  grant(profile, "Note");
}

void name_profile(ReadProfile& read, std::string_view written) {
  constexpr std::size_t kMostBytes = 64;
  std::string name;
  for (const char c : trimmed(written)) {
    const bool is_kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == '_' || c == '.' || c == '/' || c == '-';
    if (is_kept) name += c;
    if (!is_kept && !name.empty() && name.back() != '-') name += '-';
  }
  while (name.starts_with('-') || name.starts_with('.')) name.erase(0, 1);
  while (name.ends_with('-')) name.pop_back();
  if (name.empty() || name.size() > kMostBytes) {
    read.mistakes.push_back({ErrorCode::invalid, fmt::format("'{}' is no name for an agent", shown(written)),
                             fmt::format("use letters, digits and hyphens, at most {}", kMostBytes)});
    return;
  }
  if (name != written) read.warnings.push_back({0, fmt::format("its name is written {} here", name)});
  read.profile.name = std::move(name);
}

void name_by_its_head(ReadProfile& read, const std::optional<std::string>& written) {
  if (written) return name_profile(read, *written);
  read.mistakes.push_back({ErrorCode::invalid, "it has no name", "add name: to its front matter"});
}

std::optional<ModelName> foreign_model(std::string_view written, std::string_view usual_provider,
                                       ReadProfile& read) {
  if (written.empty() || lowered(written) == "inherit") return std::nullopt;
  std::string model(written);
  if (model.starts_with("google/")) model = "gemini/" + model.substr(7);
  if (!model.contains('/') && usual_provider == "anthropic") {
    // "sonnet" is the newest of that family: the last, since the table is in order.
    for (const auto& row : catalog_rows()) {
      if (row.provider == "anthropic" && row.name.starts_with(fmt::format("claude-{}-", written)))
        model = fmt::format("anthropic/{}", row.name);
    }
  }
  if (!model.contains('/')) model = fmt::format("{}/{}", usual_provider, model);
  if (model != written) read.mapped.push_back(fmt::format("model {} → {}", shown(written), model));
  return ModelName(std::move(model));
}

}  // namespace deputy
