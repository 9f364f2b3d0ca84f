#include "tools/kept_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/disk_names.h"
#include "base/text.h"
#include "guard/paths.h"
#include "tools/git_config.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kSetAside = ".git-set-aside";

Error too_many(std::string_view what, std::size_t most) {
  return {
      ErrorCode::exhausted,
      fmt::format("what the permission rules deny cannot be kept from a command: there are more than {} {}",
                  with_thousands(most), what),
      "let rules deny the folders that they lie in, such as Read(secrets/**), or deny Bash"};
}

bool holds_too_many(const KeptBack& kept) { return kept.hidden.size() + kept.fixed.size() > kMostKeptBack; }

Error not_listed(const Folder& folder) {
  return {ErrorCode::denied,
          fmt::format("{} cannot be listed, so what must be kept from a command in it cannot be found",
                      shown_path(folder.path())),
          "make it readable (chmod u+rx)"};
}

// With what the rules deny in it, or what git runs: nobody can tell.
Result<void> add_unread(const std::vector<std::string>& unread, const Folder& root,
                        std::vector<std::string>& kept) {
  for (const auto& name : unread) {
    if (name == ".") return std::unexpected(not_listed(root));
    kept.push_back(join_path(root.path(), name));
  }
  return {};
}

class Denied {
 public:
  Denied(const Rules& rules, const ToolContext& context, Access access, std::size_t most)
      : rules_(rules),
        roots_(roots_of_rules(context)),
        reads_(rules.restricts("Read", Decision::deny)),
        writes_(access == Access::write &&
                (rules.restricts("Edit", Decision::deny) || rules.restricts("Write", Decision::deny))),
        most_(most) {}

  bool has_any() const { return reads_ || writes_; }

  // `prefix`: what makes a name one that rules know; "" in the workspace.
  Result<void> look_through(const Folder& root, std::string_view prefix, KeptBack& kept) {
    std::optional<Error> failure;
    const auto unread = walk(root, [&](const std::string& name, const Entry& entry) {
      if (++seen_ > most_) failure = too_many("files to look through", most_);
      if (failure) return Onward::stop;
      // What a link leads to is judged by its own name.
      if (entry.status.kind == EntryKind::link) return Onward::past;
      const std::string judged = prefix.empty() ? name : join_path(prefix, name);
      const bool is_hidden = reads_ && denies("Read", judged);
      if (is_hidden) kept.hidden.push_back(join_path(root.path(), name));
      const bool is_fixed =
          !is_hidden && writes_ && prefix.empty() && (denies("Write", judged) || denies("Edit", judged));
      if (is_fixed) kept.fixed.push_back(join_path(root.path(), name));
      if (holds_too_many(kept)) return Onward::stop;
      return is_hidden || (is_fixed && !reads_) ? Onward::past : Onward::into;
    });
    if (failure) return std::unexpected(*std::move(failure));
    if (reads_ || prefix.empty()) TRY(add_unread(unread, root, reads_ ? kept.hidden : kept.fixed));
    if (holds_too_many(kept))
      return std::unexpected(too_many("files and folders that they deny", kMostKeptBack));
    return {};
  }

 private:
  bool denies(std::string_view tool, std::string_view name) const {
    return rules_.judge(tool, name, Decision::allow, roots_).decision == Decision::deny;
  }

  const Rules& rules_;
  Roots roots_;
  bool reads_;
  bool writes_;
  std::size_t most_;
  std::size_t seen_ = 0;
};

}  // namespace

bool denies_all_editing(const Rules& rules) {
  return std::ranges::any_of(rules.all(), [](const Rule& rule) {
    return rule.decision == Decision::deny && rule.tool == "Edit" && rule.pattern.empty();
  });
}

namespace {

// What of the workspace git takes settings and hooks from, by what the repository in `git_dir` configures for
// the work tree `top`: whoever changes that decides what git runs.
std::vector<std::string> configured_from(const Folder& workspace, const std::string& git_dir,
                                         const std::string& top) {
  constexpr std::size_t kMostOfConfig = 1 << 20;
  constexpr std::size_t kMostConfigs = 32;
  std::vector<std::string> found;
  std::vector<std::string> configs{join_path(git_dir, "config"), join_path(git_dir, "config.worktree")};
  const auto add = [&](const std::string& folder, const std::string& path) {
    const auto place = workspace.look_up(join_path(folder, path));
    if (!place || !(*place)->status() || (*place)->name() == ".") return;
    found.push_back((*place)->name());
  };
  for (std::size_t at = 0; at < configs.size() && at < kMostConfigs; ++at) {
    const auto text = workspace.read(configs[at], 0, kMostOfConfig);
    if (!text) continue;
    const GitConfigPaths paths = paths_in_git_config(*text);
    for (const auto& path : paths.hooks) add(top, path);
    const std::size_t before = found.size();
    for (const auto& path : paths.included) add(split_name(configs[at]).parent, path);
    for (std::size_t next = before; next < found.size(); ++next) {
      if (std::ranges::find(configs, found[next]) == configs.end()) configs.push_back(found[next]);
    }
  }
  return found;
}

// What the workspace's own .git leads to, elsewhere in the workspace.
Result<void> fix_own_repository(const Folder& workspace, EntryKind kind, KeptBack& kept) {
  const GitFolders leads_to = git_folders_of(workspace, ".git", kind);
  if (!leads_to.is_certain || std::ranges::find(leads_to.names, ".") != leads_to.names.end()) {
    return fail(
        ErrorCode::denied,
        fmt::format("{} names a folder that cannot be kept from a command: it is missing, cannot be told, or "
                    "is reached by a link",
                    shown_path(join_path(workspace.path(), ".git"))),
        "put the repository itself there, or name its folder without links");
  }
  for (const auto& name : leads_to.names) kept.fixed.push_back(join_path(workspace.path(), name));
  return {};
}

// Its own folder, and those that it leads to.
std::vector<std::string> git_folders(std::string_view git, EntryKind kind,
                                     std::vector<std::string> leads_to) {
  if (kind == EntryKind::folder) leads_to.emplace_back(git);
  return leads_to;
}

// Repositories, and what stands at the top of the workspace by a name that is protected.
Result<void> fix_what_runs_later(const ToolContext& context, const Rules& rules, KeptBack& kept) {
  const Folder& workspace = context.workspace;
  const auto fix = [&](const std::string& name) {
    // The sandbox fixes the workspace's own .git by itself, with the submodules' repositories in it.
    if (name != ".git" && !name.starts_with(".git/")) kept.fixed.push_back(join_path(workspace.path(), name));
  };
  kept.repositories = repositories_below(workspace, Depth::usual, kMostLookedThroughForGit);
  TRY(add_unread(kept.repositories.unread, workspace, kept.fixed));
  for (const auto& [name, kind, leads_to] : kept.repositories.found) {
    // A link cannot be fixed, but what it leads to; where it leads is looked at again afterwards.
    if (kind != EntryKind::link) fix(name);
    std::ranges::for_each(leads_to, fix);
    for (const auto& git_dir : git_folders(name, kind, leads_to))
      std::ranges::for_each(configured_from(workspace, git_dir, split_name(name).parent), fix);
  }
  TRY(const auto entries, workspace.list("."));
  for (const Entry& entry : entries) {
    const EntryKind kind = entry.status.kind;
    if (entry.name == ".git") {
      if (kind != EntryKind::link) TRY(fix_own_repository(workspace, kind, kept));
      for (const auto& git_dir : git_folders(".git", kind, git_folders_of(workspace, ".git", kind).names))
        std::ranges::for_each(configured_from(workspace, git_dir, "."), fix);
      continue;
    }
    // The sandbox hides .deputy by itself.
    const bool is_allowed =
        entry.name == ".deputy" || protected_names_in(entry.name).empty() ||
        rules.judge("Write", entry.name, Decision::allow, roots_of_rules(context)).decision ==
            Decision::allow;
    if (is_allowed) continue;
    const auto place = workspace.look_up(entry.name);
    if (place && (*place)->status() && (*place)->name() != ".") fix((*place)->name());
  }
  std::ranges::sort(kept.fixed);
  kept.fixed.erase(std::ranges::unique(kept.fixed).begin(), kept.fixed.end());
  return {};
}

}  // namespace

Result<KeptBack> kept_back(const ToolContext& context, Access access, std::size_t most) {
  KeptBack kept;
  Rules rules;
  if (!context.session.permissions.empty()) {
    TRY(rules, Rules::from_json(context.session.permissions));
  }
  kept.is_all_fixed = denies_all_editing(rules);
  if (kept.is_all_fixed) access = Access::read;
  if (Denied denied(rules, context, access, most); denied.has_any()) {
    TRY(denied.look_through(context.workspace, "", kept));
    for (const Folder* root : context.roots) TRY(denied.look_through(*root, root->path(), kept));
  }
  kept.has_denied = !kept.hidden.empty() || !kept.fixed.empty();
  if (access != Access::write) return kept;
  TRY(fix_what_runs_later(context, rules, kept));
  if (holds_too_many(kept)) {
    return fail(ErrorCode::exhausted,
                fmt::format("not all git repositories below the workspace's own can be kept from a command: "
                            "with what the rules deny they are more than {}",
                            kMostKeptBack),
                "start deputy in a folder with fewer of them");
  }
  return kept;
}

namespace {

// The first name that is free: there are fewer taken ones than entries.
std::optional<std::string> free_name(const Folder& workspace, const std::string& folder) {
  const auto entries = workspace.list(folder);
  if (!entries) return std::nullopt;
  std::string leaf(kSetAside);
  for (std::size_t number = 2; std::ranges::find(*entries, leaf, &Entry::name) != entries->end(); ++number)
    leaf = fmt::format("{}-{}", kSetAside, number);
  return join_path(folder, leaf);
}

// Where all could be looked through before, a command that makes too many files has made them all.
Repositories repositories_now(const Folder& workspace, bool were_all_known) {
  return repositories_below(workspace, Depth::usual,
                            were_all_known ? kMostLookedThrough : kMostLookedThroughForGit);
}

WallTime last_change(const Folder& workspace, const Repository& repository) {
  WallTime last{};
  for (const Entry& entry :
       workspace.list(split_name(repository.name).parent).value_or(std::vector<Entry>{})) {
    if (entry.name == split_name(repository.name).leaf) last = entry.status.changed;
  }
  for (const auto& name : repository.leads_to) {
    if (const auto status = workspace.status(name)) last = std::max(last, status->changed);
  }
  return last;
}

std::string set_aside(const Folder& workspace, const std::vector<Repository>& made) {
  std::vector<std::string> moved;
  std::vector<std::string> stuck;
  for (const auto& repository : made) {
    const auto other = free_name(workspace, split_name(repository.name).parent);
    if (other && workspace.rename(repository.name, *other)) {
      moved.push_back(shown_path(*other));
    } else {
      stuck.push_back(shown_path(repository.name));
    }
  }
  std::string told;
  if (!moved.empty()) {
    told += fmt::format(
        "\n[The repository that was made was set aside, as {}: git runs what a repository configures. Who "
        "trusts it renames it back.]",
        fmt::join(moved, ", "));
  }
  if (!stuck.empty()) {
    told += fmt::format(
        "\n[The repository that was made could not be set aside: {}. git runs what it configures: remove it, "
        "or look through it before you use git there.]",
        fmt::join(stuck, ", "));
  }
  return told;
}

}  // namespace

std::string set_aside_new(const Folder& workspace, const KnownRepositories& known) {
  auto now = repositories_now(workspace, known.is_all);
  std::vector<std::string> later;
  std::erase_if(now.found, [&](const Repository& each) {
    if (is_known(known, each)) return true;
    if (!known.until || last_change(workspace, each) <= *known.until) return false;
    later.push_back(shown_path(each.name));
    return true;
  });
  std::string told = set_aside(workspace, now.found);
  if (!later.empty()) {
    told += fmt::format(
        "\n[Since then somebody made or changed a repository, which was left as it is: {}. git runs what it "
        "configures: where you do not know it, look through it before you use git there.]",
        fmt::join(later, ", "));
  }
  return told;
}

std::string set_aside_new(const Folder& workspace, const Repositories& known) {
  auto now = repositories_now(workspace, known.is_all);
  std::erase_if(now.found, [&](const Repository& each) {
    return std::ranges::find(known.found, each) != known.found.end();
  });
  std::string told = set_aside(workspace, now.found);
  std::vector<std::string> unread;
  for (const auto& name : now.unread) {
    if (std::ranges::find(known.unread, name) == known.unread.end()) unread.push_back(shown_path(name));
  }
  if (!unread.empty()) {
    told += fmt::format(
        "\n[What the command left in {} cannot be looked at, and no command can change it any more: be "
        "careful with "
        "git there, and make it readable (chmod u+rx).]",
        fmt::join(unread, ", "));
  }
  if (known.is_all && !now.is_all) {
    told += fmt::format(
        "\n[The command left more than {} files, too many to look for repositories among them: be careful "
        "with git in them.]",
        with_thousands(kMostLookedThrough));
  }
  return told;
}

}  // namespace deputy
