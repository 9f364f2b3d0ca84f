#include "tools/workspace_mode.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/disk.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kScratchFolders = ".deputy/subagents/";
constexpr std::string_view kAgent = "agent_";

bool lies_in(std::string_view name, const std::string& folder) {
  return name.starts_with(folder) && name.substr(folder.size()).starts_with('/');
}

}  // namespace

std::string scratch_folder(const SessionId& id) {
  return fmt::format("{}{}{}", kScratchFolders, kAgent, id.value);
}

std::optional<std::string> refusal_to_write(const Session& session, std::string_view name) {
  const bool is_elsewhere = name.starts_with('/');
  switch (session.workspace_mode) {
    case WorkspaceMode::shared:
      return std::nullopt;
    case WorkspaceMode::worktree:
      if (!is_elsewhere) return std::nullopt;
      return fmt::format("You write in your own worktree only, {}. Name a file in it.", session.workspace);
    case WorkspaceMode::scratch: {
      const std::string own = scratch_folder(session.id);
      if (lies_in(name, own)) return std::nullopt;
      return fmt::format("Your workspace is read-only but for your scratch folder. Write beneath {}/.", own);
    }
    case WorkspaceMode::read_only:
      break;
  }
  return "Your workspace is read-only: nothing can be written. Put what you found into your report.";
}

bool is_hidden_scratch(const Session& session, std::span<const SessionId> children, std::string_view name) {
  // A file system that ignores case finds the folder under other spellings too.
  if (!session.parent || !lowered(name).starts_with(kScratchFolders)) return false;
  std::string_view rest = name.substr(kScratchFolders.size());
  const std::string_view owner = rest.substr(0, rest.find('/'));
  const auto is_of = [owner](const SessionId& id) { return owner == fmt::format("{}{}", kAgent, id.value); };
  return !owner.empty() && !is_of(session.id) && std::ranges::none_of(children, is_of);
}

bool is_hidden_state(const Session& session, std::span<const std::string> hidden, std::string_view name) {
  const std::string whole = join_path(session.workspace, name == "." ? "" : name);
  return std::ranges::any_of(
      hidden, [&whole](const std::string& folder) { return whole == folder || lies_in(whole, folder); });
}

}  // namespace deputy
