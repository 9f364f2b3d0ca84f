#include "tools/sight.h"

#include <algorithm>

#include "base/text.h"
#include "tools/workspace_mode.h"

namespace deputy {

namespace {

bool is_of_root(std::string_view name, std::string_view root) {
  return name == root || (name.starts_with(root) && name.substr(root.size()).starts_with('/'));
}

}  // namespace

Result<Sight> Sight::of(const Session& session) {
  Sight sight;
  sight.session_.id = session.id;
  sight.session_.parent = session.parent;
  sight.session_.workspace = session.workspace;
  sight.roots_of_rules_.workspace = session.workspace;
  if (!session.permissions.empty()) {
    TRY(sight.rules_, Rules::from_json(session.permissions));
  }
  return sight;
}

Result<Sight> Sight::of(const ToolContext& context) {
  TRY(Sight sight, of(context.session));
  sight.roots_of_rules_ = roots_of_rules(context);
  for (const Folder* root : context.roots) sight.roots_.push_back(root->path());
  sight.children_ = context.children;
  sight.hidden_ = context.hidden;
  return sight;
}

bool Sight::lies_in_reach(std::string_view name) const {
  if (name.empty() || name.contains('\0')) return false;
  const auto parts = split(name, '/');
  if (std::ranges::find(parts, "..") != parts.end()) return false;
  if (!name.starts_with('/')) return true;
  return std::ranges::any_of(roots_, [name](const std::string& root) { return is_of_root(name, root); });
}

// A root that lies in a hidden folder was granted by itself.
bool Sight::is_hidden(std::string_view name) const {
  return is_hidden_state(session_, hidden_, name) &&
         std::ranges::none_of(roots_, [this, name](const std::string& root) {
           return is_of_root(name, root) && is_hidden_state(session_, hidden_, root);
         });
}

bool Sight::shows(std::string_view tool, std::string_view name, std::uint64_t names) const {
  if (!lies_in_reach(name) || is_hidden_scratch(session_, children_, name) || is_hidden(name)) return false;
  const auto allows = [&](std::string_view by, Decision otherwise) {
    return rules_.judge(by, name, otherwise, roots_of_rules_).decision == Decision::allow;
  };
  return allows("Read", names > 1 ? Decision::ask : Decision::allow) &&
         (tool == "Read" || allows(tool, Decision::allow));
}

}  // namespace deputy
