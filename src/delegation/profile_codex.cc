// Codex: .codex/agents/*.toml.
#include <array>

#include "base/text.h"
#include "delegation/profile_formats.h"

namespace deputy {
namespace {

constexpr auto kWithoutMeaning = std::to_array<std::string_view>(
    {"nickname_candidates", "model_reasoning_effort", "model_reasoning_summary", "model_verbosity",
     "personality", "service_tier", "features", "skills", "approval_policy", "mcp_servers"});

std::optional<WorkspaceMode> workspace_of(ProfileFields& fields, ReadProfile& read) {
  const auto* mode = fields.take("sandbox_mode", "workspace");
  if (!mode) return std::nullopt;
  if (mode->text == "read-only") return WorkspaceMode::read_only;
  if (mode->text == "danger-full-access") {
    read.warnings.push_back({mode->line, "sandbox_mode counts as workspace-write: no agent has more"});
  } else if (mode->text != "workspace-write") {
    keep_mistake(read,
                 wrong_value(*mode, "sandbox_mode", "read-only, workspace-write or danger-full-access"));
  }
  return WorkspaceMode::shared;
}

// Where it does not take the network away, its parent's counts.
bool network_of(ProfileFields& fields, std::optional<WorkspaceMode> workspace, ReadProfile& read) {
  bool network = workspace != WorkspaceMode::read_only;
  const auto* sandbox = fields.take("sandbox_workspace_write", "network");
  if (!sandbox) return network;
  for (std::size_t i = 0; i < sandbox->keys.size(); ++i) {
    if (sandbox->keys[i] != "network_access") continue;
    const auto has_access = truth_in(sandbox->items[i], "sandbox_workspace_write.network_access");
    if (!has_access) keep_mistake(read, std::unexpected(has_access.error()));
    network = network && has_access.value_or(false);
  }
  return network;
}

}  // namespace

Result<void> read_codex_profile(const ProfileNode& file, std::string_view stem, ReadProfile& read) {
  ProfileFields fields(file, read);
  Profile& profile = read.profile;
  TRY(const auto name, fields.text("name"));
  name_profile(read, name ? std::string_view(*name) : stem);
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto instructions, fields.text("developer_instructions", "the instructions"));
  profile.instructions = instructions.value_or("");
  TRY(const auto model, fields.text("model"));
  profile.model = foreign_model(model.value_or(""), "openai", read);
  add_all_tools(read);
  const auto workspace = workspace_of(fields, read);
  profile.network = network_of(fields, workspace, read);
  settle(read, workspace);
  fields.ignore(kWithoutMeaning);
  fields.finish();
  return {};
}

}  // namespace deputy
