// Where sessions work (delegation.md, "Workspaces"): the parent's folder, a scratch folder of their own in
// it, or a git worktree. Made before the first step, found again after a restart; at the end what is empty
// goes at once, and the work in a worktree is committed to a branch of its own, for the parent to merge or
// leave.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/loop.h"
#include "async/pool.h"
#include "base/disk.h"
#include "delegation/git.h"
#include "sandbox/folder_hold.h"
#include "sandbox/processes.h"
#include "store/store.h"
#include "tools/repositories.h"
#include "transcript/workspace.h"

namespace deputy {

// Never wider than the parent's: what a child gets of the mode that its profile asks for.
WorkspaceMode narrowed(WorkspaceMode parent, WorkspaceMode wanted);

// "/work/.deputy/subagents/agent_sess_1_aaaaaa", in the folder that `workspace` is.
std::string own_folder(std::string_view workspace, const SessionId& session);

struct FinishedWorkspace {
  WorkspaceOutcome outcome;
  std::vector<std::string> left_out = {};  // folders in a worktree that are repositories: kept, on no branch
  bool operator==(const FinishedWorkspace&) const = default;
};

class Workspaces {
 public:
  struct Services {
    Loop& loop;
    Pool& pool;
    const Disk& disk;
    Processes& processes;
  };
  explicit Workspaces(Services services) : services_(services) {}

  // The folder that the session's tools work in. Makes what its mode needs; what is there already stays as it
  // is. `parent` is the parent's workspace, the session's own where it has no other.
  Task<Result<std::shared_ptr<const Folder>>> open(Session session, std::string parent, StopToken stop);

  // What has become of it, once the session has ended. The branch and the diff of a worktree; nothing where
  // nothing was changed, and then the folder is gone. A
  // repository that lies in a worktree is not committed, and keeps it: git would run what that configures.
  Task<Result<FinishedWorkspace>> finish(Session session, std::string parent);

  // Looks through what dead processes left in `workspace`, and in the worktrees there: what is empty or
  // merged goes, and is made again for a session that goes on; work is kept and named, also where only its
  // branch is left. What somebody works in is left alone.
  Task<Result<std::vector<std::string>>> clean(std::string workspace, Store& store);

 private:
  using Shared = std::shared_ptr<const Folder>;
  Task<Result<Shared>> open_folder(std::string path, IfAbsent if_absent);
  Task<Result<void>> make_own_folder(Shared parent);
  Task<Result<Shared>> opened(std::string path);
  Git git_in(const Folder& work_tree) const;
  Task<bool> hold(Shared folder);
  Task<Result<void>> add_worktree(Shared parent, std::string path, SessionId session, StopToken stop);
  Task<> drop_stale_locks(Shared worktree, SessionId session);
  Task<> drop_locks(std::string worktree, SessionId session);
  Task<bool> drop_half_made(std::string worktree);
  Task<Result<void>> check_out(Shared worktree, StopToken stop);
  Task<Result<FinishedWorkspace>> finish_worktree(std::string path, std::string parent, SessionId session);
  Task<Result<void>> drop_worktree(Shared parent, std::string path, SessionId session);
  Task<bool> forget_worktree(Shared parent, SessionId session);
  Task<std::vector<std::string>> forget_gone(Shared repository, Store& store);
  Task<Repositories> nested_in(Shared worktree);
  Task<bool> drop_if_idle(Shared parent, std::string path, SessionId session);
  Task<Result<bool>> drop_if_empty(std::string path);

  Services services_;
  std::map<std::string, Shared> opened_;
  std::map<std::string, FolderHold> held_;  // the folders of sessions that run here, by their paths
};

}  // namespace deputy
