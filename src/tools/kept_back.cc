#include "tools/kept_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kGit = ".git";
constexpr std::string_view kSetAside = ".git-set-aside";

enum class Onward { into, past, stop };
using Visit = std::function<Onward(const std::string& name, const Entry& entry)>;

// Every entry beneath the folder, from the top, without following links. A folder that cannot be read is
// passed over: nobody of the same user can read it.
void walk(const Folder& root, const Visit& visit) {
  std::vector<std::string> waiting{"."};
  while (!waiting.empty()) {
    const std::string folder = std::move(waiting.back());
    waiting.pop_back();
    const auto entries = root.list(folder);
    if (!entries) continue;
    for (const Entry& entry : *entries) {
      std::string name = folder == "." ? entry.name : join_path(folder, entry.name);
      const Onward onward = visit(name, entry);
      if (onward == Onward::stop) return;
      if (onward == Onward::into && entry.status.kind == EntryKind::folder)
        waiting.push_back(std::move(name));
    }
  }
}

struct Repository {
  std::string name;  // of what makes a folder one: its .git
  EntryKind kind = EntryKind::folder;
};

// Those below the workspace's own.
std::vector<Repository> repositories_in(const Folder& workspace) {
  std::vector<Repository> found;
  std::size_t seen = 0;
  walk(workspace, [&](const std::string& name, const Entry& entry) {
    if (++seen > kMostLookedThroughForGit || found.size() == kMostRepositories) return Onward::stop;
    if (entry.name == kGit && name != kGit) found.push_back({name, entry.status.kind});
    const bool is_dull = entry.name == kGit || entry.name == "node_modules" || name == ".deputy";
    return is_dull ? Onward::past : Onward::into;
  });
  return found;
}

Error too_many(std::string_view what, std::size_t most) {
  return {
      ErrorCode::exhausted,
      fmt::format("what the permission rules deny cannot be kept from a command: there are more than {} {}",
                  with_thousands(most), what),
      "let rules deny the folders that they lie in, such as Read(secrets/**), or deny Bash"};
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
    walk(root, [&](const std::string& name, const Entry& entry) {
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
      if (kept.hidden.size() + kept.fixed.size() > kMostKeptBack) {
        failure = too_many("files and folders that they deny", kMostKeptBack);
        return Onward::stop;
      }
      return is_hidden || (is_fixed && !reads_) ? Onward::past : Onward::into;
    });
    if (failure) return std::unexpected(*std::move(failure));
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

Result<KeptBack> kept_back(const ToolContext& context, Access access, std::size_t most) {
  KeptBack kept;
  Rules rules;
  if (!context.session.permissions.empty()) {
    TRY(rules, Rules::from_json(context.session.permissions));
  }
  kept.is_all_fixed = std::ranges::any_of(rules.all(), [](const Rule& rule) {
    return rule.decision == Decision::deny && rule.tool == "Edit" && rule.pattern.empty();
  });
  if (kept.is_all_fixed) access = Access::read;
  if (Denied denied(rules, context, access, most); denied.has_any()) {
    TRY(denied.look_through(context.workspace, "", kept));
    for (const Folder* root : context.roots) TRY(denied.look_through(*root, root->path(), kept));
  }
  if (access != Access::write) return kept;
  for (auto& [name, kind] : repositories_in(context.workspace)) {
    const bool has_room = kept.hidden.size() + kept.fixed.size() < kMostKeptBack;
    if (kind != EntryKind::link && has_room) kept.fixed.push_back(join_path(context.workspace.path(), name));
    kept.repositories.push_back(std::move(name));
  }
  return kept;
}

std::string set_aside_new(const Folder& workspace, const std::vector<std::string>& known) {
  std::vector<std::string> moved;
  for (const auto& [name, kind] : repositories_in(workspace)) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string folder = name.substr(0, name.size() - kGit.size());
    for (int number = 1; number <= 9; ++number) {
      const std::string other = number == 1 ? fmt::format("{}{}", folder, kSetAside)
                                            : fmt::format("{}{}-{}", folder, kSetAside, number);
      if (workspace.status(other)) continue;
      if (workspace.rename(name, other)) moved.push_back(shown_path(other));
      break;
    }
  }
  if (moved.empty()) return {};
  return fmt::format(
      "\n[The repository that was made was set aside, as {}: git runs what a repository configures. Who "
      "trusts "
      "it renames it back.]",
      fmt::join(moved, ", "));
}

}  // namespace deputy
