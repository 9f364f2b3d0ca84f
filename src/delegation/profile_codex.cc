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
  if (mode->text != "workspace-write")
    read.warnings.push_back({mode->line, "sandbox_mode counts as workspace-write: no agent has more"});
  return WorkspaceMode::shared;
}

}  // namespace

Result<void> read_codex_profile(const ProfileNode& file, std::string_view stem, ReadProfile& read) {
  ProfileFields fields(file, read);
  Profile& profile = read.profile;
  TRY(const auto name, fields.text("name"));
  TRY(profile.name, profile_name(name ? *name : std::string(stem), read));
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto instructions, fields.text("developer_instructions", "the instructions"));
  profile.instructions = instructions.value_or("");
  if (profile.instructions.empty()) read.warnings.push_back({0, "it has no instructions"});
  TRY(const auto model, fields.text("model"));
  profile.model = foreign_model(model.value_or(""), "openai", read);
  TRY(add_all_tools(read));
  profile.network = true;
  settle(read, workspace_of(fields, read));
  fields.ignore(kWithoutMeaning);
  fields.finish();
  return {};
}

}  // namespace deputy
