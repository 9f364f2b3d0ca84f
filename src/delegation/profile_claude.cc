// Claude Code: .claude/agents/*.md.
#include <algorithm>
#include <array>

#include "delegation/foreign_patterns.h"
#include "delegation/profile_formats.h"

namespace deputy {
namespace {

constexpr auto kWithoutMeaning =
    std::to_array<std::string_view>({"skills", "mcpServers", "hooks", "memory", "background", "effort",
                                     "initialPrompt", "omitClaudeMd", "autoCompactWindow", "color"});

// They ask, or allow what would be asked about: here that is the parent's to say.
constexpr auto kParentsToSay =
    std::to_array<std::string_view>({"default", "acceptEdits", "auto", "bypassPermissions"});

Result<std::optional<WorkspaceMode>> workspace_of(ProfileFields& fields, ReadProfile& read) {
  std::optional<WorkspaceMode> workspace;
  if (const auto* mode = fields.take("permissionMode")) {
    if (mode->text == "plan") {
      workspace = WorkspaceMode::read_only;
      read.mapped.emplace_back("permissionMode plan → workspace read_only");
    } else if (mode->text == "dontAsk") {
      read.profile.on_ask = OnAsk::deny;
      read.mapped.emplace_back("permissionMode dontAsk → on_ask deny");
    } else if (std::ranges::find(kParentsToSay, mode->text) == kParentsToSay.end()) {
      return wrong_value(*mode, "permissionMode",
                         "default, plan, dontAsk, acceptEdits, auto or bypassPermissions");
    } else if (mode->text != "default") {
      read.warnings.push_back(
          {mode->line,
           "permissionMode is ignored: an agent cannot allow itself what its parent must ask for"});
    }
  }
  if (const auto* isolation = fields.take("isolation")) {
    if (isolation->text == "worktree" && !workspace) {
      workspace = WorkspaceMode::worktree;
      read.mapped.emplace_back("isolation worktree → workspace worktree");
    } else {
      read.ignored.emplace_back("isolation");
    }
  }
  return workspace;
}

}  // namespace

Result<void> read_claude_profile(const MarkdownProfile& file, ReadProfile& read) {
  ProfileFields fields(file.head, read);
  Profile& profile = read.profile;
  TRY(const auto name, fields.text("name"));
  name_by_its_head(read, name);
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto tools, fields.texts("tools"));
  tools ? add_tools(read, *tools, claude_pattern) : add_all_tools(read);
  TRY(const auto without, fields.texts("disallowedTools", "disallowed_tools"));
  remove_tools(read, without.value_or(std::vector<ProfileNode>{}), claude_pattern);
  TRY(const auto model, fields.text("model"));
  profile.model = foreign_model(model.value_or(""), "anthropic", read);
  TRY(profile.max_turns, fields.number("maxTurns", "max_turns"));
  profile.network = true;
  TRY(const auto workspace, workspace_of(fields, read));
  settle(read, workspace);
  fields.ignore(kWithoutMeaning);
  fields.finish();
  return {};
}

}  // namespace deputy
