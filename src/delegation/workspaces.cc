#include "delegation/workspaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/disk_names.h"
#include "base/text.h"
#include "sandbox/free_place.h"
#include "tools/repositories.h"
#include "tools/workspace_mode.h"

namespace deputy {
namespace {

constexpr std::string_view kState = ".deputy";
constexpr std::string_view kFolders = ".deputy/subagents";
constexpr std::string_view kIgnore = ".gitignore";
constexpr std::string_view kGit = ".git";
constexpr std::string_view kIndex = "index";
constexpr std::string_view kRefs = "refs/deputy";
constexpr std::size_t kMostPacked = 64 * 1024 * 1024;  // bytes of references that git keeps in one file
constexpr std::string_view kPrefix = "agent_";
constexpr std::size_t kMostFiles = 1'000'000;  // looked through in a worktree
constexpr std::size_t kMostNested = 1'000;     // repositories in one
constexpr int kMostTries = 16;

std::string branch_of(const SessionId& session) { return "deputy/" + session.value; }
// Where the branch began; kept by git under a name of its own, so that a restart finds it.
std::string start_of(const SessionId& session) { return "refs/deputy/start/" + session.value; }

// A worktree lies in the folder of the repository that it was made from, however many stand between them.
std::string_view repository_of(std::string_view workspace) {
  return workspace.substr(0, workspace.find(fmt::format("/{}/", kFolders)));
}
std::string store_of(std::string_view workspace) { return join_path(repository_of(workspace), kGit); }
// git names it after the worktree's own folder.
std::string git_dir_of(std::string_view workspace) {
  if (repository_of(workspace) == workspace) return store_of(workspace);
  return fmt::format("{}/worktrees/{}", store_of(workspace), split_name(workspace).leaf);
}

// Whether git may have a reference of that name, or below it, as far as the disk tells: it need not be asked
// where it has none.
bool may_have_reference(const Disk& disk, const std::string& store, std::string_view name) {
  if (disk.status(join_path(store, name))) return true;
  const auto folder = disk.open(store, IfAbsent::fail);
  if (!folder) return false;
  const auto packed = (*folder)->read("packed-refs", 0, kMostPacked);
  return packed && packed->contains(name);
}

bool may_write_all(WorkspaceMode mode) {
  return mode == WorkspaceMode::shared || mode == WorkspaceMode::worktree;
}

Error not_a_repository(std::string_view workspace, const Error& error) {
  return {ErrorCode::invalid,
          fmt::format("{} is not the top folder of a git repository with a commit ({})", workspace,
                      error.message),
          "a worktree needs one; start deputy there, or choose the workspace scratch or shared"};
}

}  // namespace

WorkspaceMode narrowed(WorkspaceMode parent, WorkspaceMode wanted) {
  if (may_write_all(parent)) return wanted;
  if (parent == WorkspaceMode::read_only) return WorkspaceMode::read_only;
  return wanted == WorkspaceMode::read_only ? WorkspaceMode::read_only : WorkspaceMode::scratch;
}

std::string own_folder(std::string_view workspace, const SessionId& session) {
  return join_path(workspace, scratch_folder(session));
}

Task<Result<Workspaces::Shared>> Workspaces::open_folder(std::string path, IfAbsent if_absent) {
  const Disk& disk = services_.disk;
  CO_TRY(auto opened, co_await on_pool(services_.loop, services_.pool,
                                       [&disk, path, if_absent] { return disk.open(path, if_absent); }));
  co_return Shared(std::move(opened));
}

// The folders of children are none of the repository's business.
Task<Result<void>> Workspaces::make_own_folder(Shared parent) {
  co_return co_await on_pool(services_.loop, services_.pool, [parent]() -> Result<void> {
    // An empty .deputy goes with the command that it was kept from, also between two steps of this.
    Result<void> made = parent->make_folder(kFolders);
    for (int tries = 1; !made && made.error().code == ErrorCode::not_found && tries < kMostTries; ++tries)
      made = parent->make_folder(kFolders);
    if (!made) return made;
    const std::string ignore = fmt::format("{}/{}", kFolders, kIgnore);
    if (!parent->status(ignore)) TRY(parent->replace(ignore, "*\n"));
    return {};
  });
}

Task<Result<Workspaces::Shared>> Workspaces::opened(std::string path) {
  if (const auto found = opened_.find(path); found != opened_.end()) co_return found->second;
  CO_TRY(auto folder, co_await open_folder(path, IfAbsent::fail));
  co_return opened_.emplace(std::move(path), std::move(folder)).first->second;
}

Git Workspaces::git_in(const Folder& work_tree) const {
  return {services_.processes, work_tree, store_of(work_tree.path()), git_dir_of(work_tree.path())};
}

Task<Result<Workspaces::Shared>> Workspaces::open(Session session, std::string parent, StopToken stop) {
  if (session.parent && session.workspace_mode == WorkspaceMode::worktree && session.workspace != parent) {
    CO_TRY(auto outer, co_await opened(parent));
    CO_TRY(co_await make_own_folder(outer));
    if (!held_.contains(session.workspace)) (void)co_await drop_half_made(session.workspace);
    if (!co_await opened(session.workspace)) {
      co_await drop_locks(session.workspace, session.id);
      CO_TRY(co_await add_worktree(outer, session.workspace, session.id, stop));
    }
    CO_TRY(auto worktree, co_await opened(session.workspace));
    if (!held_.contains(session.workspace)) co_await drop_stale_locks(worktree, session.id);
    if (!co_await hold(worktree)) {
      opened_.erase(session.workspace);
      co_return co_await open(std::move(session), std::move(parent), std::move(stop));
    }
    CO_TRY(co_await check_out(worktree, stop));
  }
  CO_TRY(auto folder, co_await opened(session.workspace));
  if (session.parent && session.workspace_mode == WorkspaceMode::scratch) {
    CO_TRY(co_await make_own_folder(folder));
    CO_TRY(auto own, co_await open_folder(own_folder(session.workspace, session.id), IfAbsent::create));
    if (!co_await hold(own)) co_return co_await open(std::move(session), std::move(parent), std::move(stop));
  }
  co_return folder;
}

// False where another process has cleaned it away before it could be held.
Task<bool> Workspaces::hold(Shared folder) {
  if (held_.contains(folder->path())) co_return true;
  auto held =
      co_await on_pool(services_.loop, services_.pool, [folder] { return FolderHold::shared(*folder); });
  if (held && !held->is_in_place()) co_return false;
  if (held) held_.emplace(folder->path(), *std::move(held));
  co_return true;
}

// Whether its branch has commits that the history of the repository's own folder lacks.
Task<Result<bool>> has_unmerged_branch(Git& git, SessionId session, StopToken stop) {
  CO_TRY(
      const auto found,
      co_await git.look({"for-each-ref", "--format=%(refname)", "refs/heads/" + branch_of(session)}, stop));
  if (found.empty()) co_return false;
  CO_TRY(const auto more,
         co_await git.look({"rev-list", "--max-count=1", branch_of(session), "^HEAD"}, stop));
  co_return !more.empty();
}

Task<Result<void>> Workspaces::add_worktree(Shared parent, std::string path, SessionId session,
                                            StopToken stop) {
  Git git = git_in(*parent);
  auto commit = co_await git.look({"rev-parse", "--verify", "HEAD^{commit}"}, stop);
  if (!commit) co_return std::unexpected(not_a_repository(parent->path(), commit.error()));
  CO_TRY(co_await git.run({"worktree", "prune"}, stop));
  const Disk& disk = services_.disk;
  const std::string branch = "refs/heads/" + branch_of(session);
  bool has_work = co_await on_pool(services_.loop, services_.pool, [&disk, store = store_of(path), branch] {
    return may_have_reference(disk, store, branch);
  });
  if (has_work) {
    CO_TRY(has_work, co_await has_unmerged_branch(git, session, stop));
  }
  if (has_work) {  // of which only the folder is gone
    CO_TRY(const auto begun, co_await git.look({"merge-base", branch_of(session), *commit}, stop));
    CO_TRY(co_await git.run({"update-ref", start_of(session), begun}, stop));
    CO_TRY(co_await git.run({"worktree", "add", "--quiet", "--no-checkout", path, branch_of(session)}, stop));
    co_return Result<void>{};
  }
  CO_TRY(co_await git.run({"update-ref", start_of(session), *commit}, stop));
  CO_TRY(co_await git.run(
      {"worktree", "add", "--quiet", "--no-checkout", "-B", branch_of(session), path, *commit}, stop));
  co_return Result<void>{};
}

// What a git that was killed has left, where nobody works who could hold one: the next would wait in vain.
Task<> Workspaces::drop_stale_locks(Shared worktree, SessionId session) {
  if (const auto alone = FolderHold::alone(*worktree)) co_await drop_locks(worktree->path(), session);
}

Task<> Workspaces::drop_locks(std::string worktree, SessionId session) {
  const Disk& disk = services_.disk;
  const std::string own = git_dir_of(worktree);
  const std::vector<std::string> locked{
      join_path(own, "index"), join_path(own, "HEAD"),
      fmt::format("{}/refs/heads/{}", store_of(worktree), branch_of(session)),
      join_path(store_of(worktree), start_of(session))};
  co_await on_pool(services_.loop, services_.pool, [&disk, locked] {
    for (const auto& each : locked) {
      const auto [above, name] = split_name(each + ".lock");
      if (const auto folder = disk.open(above, IfAbsent::fail)) (void)(*folder)->remove(name);
    }
  });
}

// git marks a worktree as locked while it makes it, and what is locked it neither prunes nor makes anew: the
// next attempt would be refused, or be registered by another name. Nothing was checked out by then, so that
// the folder holds a .git alone; one that holds more stays. The mark goes last: a crash in between is mended
// by the next. A folder that git knows nothing of any more is as little.
Task<bool> Workspaces::drop_half_made(std::string worktree) {
  const Disk& disk = services_.disk;
  const std::string own = git_dir_of(worktree);
  co_return co_await on_pool(services_.loop, services_.pool, [&disk, worktree, own] {
    constexpr std::string_view kMark = "locked";
    constexpr std::string_view kByGit = "initializing";  // a person's lock gives their own reason, or none
    const auto git_dir = disk.open(own, IfAbsent::fail);
    if (git_dir && (*git_dir)->read(kMark, 0, kByGit.size()) != kByGit) return false;
    const auto folder = disk.open(worktree, IfAbsent::fail);
    if (!git_dir && !folder) return false;
    if (folder) {
      const auto entries = (*folder)->list(".");
      const bool is_bare =
          entries && (entries->empty() || (entries->size() == 1 && entries->front().name == kGit &&
                                           entries->front().status.kind == EntryKind::file));
      if (!is_bare) return false;
      if (!entries->empty() && !(*folder)->remove(kGit)) return false;
      const auto [above, name] = split_name(worktree);
      const auto outer = disk.open(above, IfAbsent::fail);
      if (!outer || !(*outer)->remove(name)) return false;
    }
    return !git_dir || (*git_dir)->remove(kMark).has_value();
  });
}

// A step of its own: only in the worktree is known what the repository configures for its branch. git writes
// the index last, so that one that a crash broke off is done again; and what is being removed has none any
// more, though it may lack files, and its .git too.
Task<Result<void>> Workspaces::check_out(Shared worktree, StopToken stop) {
  const Disk& disk = services_.disk;
  const std::string own = git_dir_of(worktree->path());
  CO_TRY(const bool is_whole,
         co_await on_pool(services_.loop, services_.pool, [&disk, worktree, own]() -> Result<bool> {
           if (disk.status(join_path(own, kIndex))) return true;
           if (disk.status(own) && !worktree->status(kGit))
             TRY(worktree->replace(kGit, fmt::format("gitdir: {}\n", own)));
           return false;
         }));
  if (is_whole) co_return Result<void>{};
  Git git = git_in(*worktree);
  CO_TRY(co_await git.run({"reset", "--quiet", "--hard", "HEAD"}, stop));
  co_return Result<void>{};
}

Task<Result<FinishedWorkspace>> Workspaces::finish(Session session, std::string parent) {
  WorkspaceOutcome outcome{.mode = session.workspace_mode, .path = session.workspace};
  if (!session.parent) co_return FinishedWorkspace{std::move(outcome)};
  if (session.workspace_mode == WorkspaceMode::worktree && session.workspace != parent)
    co_return co_await finish_worktree(session.workspace, parent, session.id);
  if (session.workspace_mode != WorkspaceMode::scratch) co_return FinishedWorkspace{std::move(outcome)};
  outcome.path = own_folder(session.workspace, session.id);
  held_.erase(outcome.path);
  CO_TRY(const bool was_empty, co_await drop_if_empty(outcome.path));
  if (was_empty) outcome.path.clear();
  co_return FinishedWorkspace{std::move(outcome)};
}

Task<Result<FinishedWorkspace>> Workspaces::finish_worktree(std::string path, std::string parent,
                                                            SessionId session) {
  FinishedWorkspace finished{.outcome = {.mode = WorkspaceMode::worktree, .path = path}};
  WorkspaceOutcome& outcome = finished.outcome;
  CO_TRY(auto outer, co_await opened(parent));
  auto folder = co_await open_folder(path, IfAbsent::fail);
  if (!folder)
    co_return FinishedWorkspace{
        {.mode = WorkspaceMode::worktree}};  // it was empty, and went before a restart
  opened_.erase(path);
  held_.erase(path);
  co_await drop_stale_locks(*folder, session);
  Git git = git_in(**folder);
  CO_TRY(const auto head, co_await git.look({"symbolic-ref", "--short", "HEAD"}, {}));
  if (head != branch_of(session))
    co_return fail(ErrorCode::invalid,
                   fmt::format("{} is not on its branch any more, but on {}", path, head));
  const auto nested = co_await nested_in(*folder);
  if (!nested.is_all || nested.found.size() > kMostNested)
    co_return fail(ErrorCode::exhausted,
                   fmt::format("{} has more than {} files or {} repositories in it", path,
                               with_thousands(kMostFiles), with_thousands(kMostNested)));
  std::vector<std::string> add{"add", "--all", "--", "."};
  for (const auto& each : nested.found) {
    finished.left_out.emplace_back(split_name(each.name).parent);
    add.push_back(":(exclude,literal)" + finished.left_out.back());
  }
  // What is marked as unchanged for good is looked at all the same.
  CO_TRY(co_await git.run({"update-index", "-q", "--really-refresh"}, {}));
  CO_TRY(co_await git.run(std::move(add), {}));
  CO_TRY(const auto staged,
         co_await git.look({"diff", "--cached", "--name-only", "--no-ext-diff", "--no-textconv"}, {}));
  if (!staged.empty())
    CO_TRY(co_await git.run({"commit", "--quiet", "--no-verify", "-m", "Work of " + session.value}, {}));
  const std::string range = start_of(session) + "..HEAD";
  CO_TRY(outcome.diff,
         co_await git.look({"diff", "--no-ext-diff", "--no-textconv", "--no-color", range}, {}));
  if (!outcome.diff.empty()) {
    outcome.branch = branch_of(session);
  } else if (co_await drop_if_idle(outer, path, session)) {
    outcome.path.clear();
  }
  co_return finished;
}

// The index goes first: a removal that is broken off leaves a folder that lacks files, which would look like
// somebody's work. What is left of its names in git goes with the next start.
Task<Result<void>> Workspaces::drop_worktree(Shared parent, std::string path, SessionId session) {
  const Disk& disk = services_.disk;
  co_await on_pool(services_.loop, services_.pool, [&disk, own = git_dir_of(path)] {
    if (const auto folder = disk.open(own, IfAbsent::fail)) (void)(*folder)->remove(kIndex);
  });
  Git git = git_in(*parent);
  CO_TRY(co_await git.run({"worktree", "remove", "--force", path}, {}));
  (void)co_await git.run({"branch", "--quiet", "-D", branch_of(session)}, {});
  (void)co_await git.run({"update-ref", "-d", start_of(session)}, {});
  co_return Result<void>{};
}

// What git knows of a worktree whose folder was never made, or is gone. False where its branch has work.
Task<bool> Workspaces::forget_worktree(Shared parent, SessionId session) {
  Git git = git_in(*parent);
  (void)co_await git.run({"worktree", "prune"}, {});
  const auto has_work = co_await has_unmerged_branch(git, session, {});
  if (!has_work || *has_work) co_return false;
  (void)co_await git.run({"branch", "--quiet", "-D", branch_of(session)}, {});
  (void)co_await git.run({"update-ref", "-d", start_of(session)}, {});
  co_return true;
}

// The worktrees of ended sessions whose folder is gone: by a removal that was broken off, or by a person.
// Names the branches that stay.
Task<std::vector<std::string>> Workspaces::forget_gone(Shared repository, Store& store) {
  std::vector<std::string> kept;
  const Disk& disk = services_.disk;
  const bool may_have_some = co_await on_pool(
      services_.loop, services_.pool,
      [&disk, own = store_of(repository->path())] { return may_have_reference(disk, own, kRefs); });
  if (!may_have_some) co_return kept;
  Git git = git_in(*repository);
  const auto names = co_await git.look(
      {"for-each-ref", "--format=%(refname:lstrip=3)", "refs/deputy/start", "refs/heads/deputy"}, {});
  if (!names) co_return kept;
  const auto each = split(*names, '\n');
  for (const std::string_view name : std::set<std::string_view>(each.begin(), each.end())) {
    const SessionId id{std::string(name)};
    const auto session = store.session(id);
    if (!session || !*session || !is_terminal((*session)->state)) continue;
    const std::string path = (*session)->workspace;
    if ((*session)->workspace_mode != WorkspaceMode::worktree || repository_of(path) != repository->path())
      continue;
    if (co_await on_pool(services_.loop, services_.pool,
                         [&disk, path] { return disk.status(path).has_value(); }))
      continue;
    co_await drop_locks(path, id);
    if (!co_await forget_worktree(repository, id)) kept.push_back("branch " + branch_of(id));
  }
  co_return kept;
}

Task<Repositories> Workspaces::nested_in(Shared worktree) {
  co_return co_await on_pool(services_.loop, services_.pool, [worktree] {
    return repositories_below(*worktree, Depth::everywhere, kMostFiles);
  });
}

// What is left of the children that it had.
void drop_empty_folders(const Folder& worktree) {
  const auto entries = worktree.list(kFolders);
  const std::string ignore = fmt::format("{}/{}", kFolders, kIgnore);
  if (!entries || entries->size() != 1 || entries->front().name != kIgnore) return;
  for (const auto& name : {ignore, std::string(kFolders), std::string(kState)}) {
    if (!worktree.remove(name)) return;
  }
}

// Nothing in it that is not in the parent's history: no commit, no change, not even an ignored file. What
// cannot be looked at, or not without asking a repository that lies in it, may be work.
Task<bool> Workspaces::drop_if_idle(Shared parent, std::string path, SessionId session) {
  const auto folder = co_await open_folder(path, IfAbsent::fail);
  if (!folder) co_return false;
  co_await on_pool(services_.loop, services_.pool, [folder = *folder] { drop_empty_folders(*folder); });
  const auto nested = co_await nested_in(*folder);
  if (!nested.found.empty() || !nested.is_all || !nested.unread.empty()) co_return false;
  Git inside = git_in(**folder);
  const auto head = co_await inside.look({"symbolic-ref", "--short", "HEAD"}, {});
  if (!head || *head != branch_of(session)) co_return false;
  if (!co_await inside.run({"update-index", "-q", "--really-refresh"}, {})) co_return false;
  const auto status =
      co_await inside.look({"-c", "core.fileMode=true", "-c", "core.ignoreCase=false", "status",
                            "--porcelain", "--ignored", "--untracked-files=all", "--ignore-submodules=dirty"},
                           {});
  if (!status || !status->empty()) co_return false;
  Git git = git_in(*parent);
  if (!co_await git.look({"merge-base", "--is-ancestor", branch_of(session), "HEAD"}, {})) co_return false;
  if (co_await drop_worktree(parent, path, session)) co_return true;
  (void)co_await check_out(*folder, {});
  co_return false;
}

Task<Result<bool>> Workspaces::drop_if_empty(std::string path) {
  const Disk& disk = services_.disk;
  co_return co_await on_pool(services_.loop, services_.pool, [&disk, path]() -> Result<bool> {
    const auto [above, name] = split_name(path);
    const auto folder = disk.open(above, IfAbsent::fail);
    if (!folder) return true;
    const auto entries = (*folder)->list(name);
    if (!entries) return entries.error().code == ErrorCode::not_found;
    if (!entries->empty()) return false;
    TRY((*folder)->remove(name));
    return true;
  });
}

Task<Result<std::vector<std::string>>> Workspaces::clean(std::string workspace, Store& store) {
  std::vector<std::string> kept;
  CO_TRY(auto outer, co_await opened(workspace));
  const auto entries = co_await on_pool(services_.loop, services_.pool, [outer] {
    for (const char* name : {".git", ".deputy"}) FreePlace::clear(outer->descriptor(), name);
    return outer->list(kFolders);
  });
  if (repository_of(workspace) == workspace) kept = co_await forget_gone(outer, store);
  if (!entries) co_return kept;  // there are none
  for (const Entry& entry : *entries) {
    if (entry.status.kind != EntryKind::folder || !entry.name.starts_with(kPrefix)) continue;
    const SessionId id(entry.name.substr(kPrefix.size()));
    CO_TRY(const auto session, store.session(id));
    if (!session) continue;
    const std::string path = own_folder(workspace, id);
    const auto folder = co_await open_folder(path, IfAbsent::fail);
    const auto alone = folder ? FolderHold::alone(**folder) : std::nullopt;
    if (!is_terminal(session->state) && !alone) continue;
    bool is_gone = false;
    if (session->workspace_mode == WorkspaceMode::worktree) {
      if (alone) co_await drop_locks(path, id);
      if (alone && co_await drop_half_made(path)) {
        if (!co_await forget_worktree(outer, id)) kept.push_back("branch " + branch_of(id));
        continue;
      }
      if (alone) (void)co_await check_out(*folder, {});
      if (folder) {
        CO_TRY(auto inner, co_await clean(path, store));
        std::ranges::move(inner, std::back_inserter(kept));
        opened_.erase(path);
      }
      is_gone = co_await drop_if_idle(outer, path, id);
    } else {
      const auto was_empty = co_await drop_if_empty(path);
      is_gone = was_empty && *was_empty;
    }
    if (!is_gone) kept.push_back(path);
  }
  co_return kept;
}

}  // namespace deputy
