// Where a session works, and what has become of it once the session has ended.
#pragma once

#include <string>
#include <string_view>

namespace deputy {

// What a session may write in its workspace: nothing, its own scratch folder, or (worktree, shared) all that
// permission rules leave.
enum class WorkspaceMode { read_only, scratch, worktree, shared };
std::string_view name_of(WorkspaceMode mode);

struct WorkspaceOutcome {
  WorkspaceMode mode = WorkspaceMode::read_only;
  std::string path;    // empty where nothing was left in it, and it is gone
  std::string branch;  // of a worktree with work in it
  std::string diff;    // since the branch began
  bool operator==(const WorkspaceOutcome&) const = default;
};

}  // namespace deputy
