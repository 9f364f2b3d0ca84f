#include "app/agents.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/places.h"
#include "app/trust.h"
#include "base/text.h"

namespace deputy {
namespace {

// Looking must not make a state folder where there is none, and where none can be nothing is trusted.
OrFailure<bool> workspace_is_trusted(const Program& program, std::string_view workspace) {
  const auto path = state_folder(program.common, program.environment, program.disk.current_folder());
  const auto home = path ? program.disk.open(*path, IfAbsent::fail) : std::unexpected(path.error());
  if (!home) return false;
  TRY(const bool trusted, is_trusted(**home, workspace));
  return trusted;
}

void leave_out_model(FoundProfile& found, const ModelOffer& offer) {
  auto& model = found.read.profile.model;
  if (!model || found.format == ProfileFormat::deputy || check_access(*model, offer)) return;
  found.read.warnings.push_back(
      {0, fmt::format("the model {} cannot be used here: the agent has its parent's", model->value)});
  model.reset();
}

void say(Program& program, std::string_view text) {
  program.err.write_line(fmt::format("deputy: {}", made_visible(on_one_line(to_utf8(text)))));
}

std::string agents(std::ptrdiff_t count) { return fmt::format("{} agent{}", count, count == 1 ? "" : "s"); }

}  // namespace

OrFailure<std::vector<FoundProfile>> find_agents(Program& program, std::string_view workspace) {
  TRY(const bool trusted, workspace_is_trusted(program, workspace));
  TRY(const auto offer, program.offer());
  auto found = find_profiles(program.disk, profile_places(workspace, program.environment), trusted);
  for (auto& each : found) {
    leave_out_model(each, offer);
    each.problem = program.as_typed_here(each.problem);
  }
  return found;
}

OrFailure<Profiles> profiles_for(Program& program, std::string_view workspace) {
  TRY(const auto found, find_agents(program, workspace));
  const auto count = [&found](Standing standing) {
    return std::ranges::count(found, standing, &FoundProfile::standing);
  };
  if (const auto untrusted = count(Standing::untrusted); untrusted > 0)
    say(program, fmt::format("{} of this folder not used: look at them with `{}`, then trust them with `{}`",
                             agents(untrusted), program.command_line("agents ls"),
                             program.command_line("agents trust")));
  if (const auto broken = count(Standing::broken); broken > 0)
    say(program, fmt::format("{} cannot be used: `{}` tells why", agents(broken),
                             program.command_line("agents check")));
  return profiles_of(found);
}

}  // namespace deputy
