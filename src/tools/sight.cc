#include "tools/sight.h"

#include <algorithm>

#include "base/text.h"

namespace deputy {

Result<Sight> Sight::of(const Session& session) {
  if (session.permissions.empty()) return Sight(Rules());
  TRY(Rules rules, Rules::from_json(session.permissions));
  return Sight(std::move(rules));
}

bool Sight::shows(std::string_view tool, std::string_view path) const {
  if (path.empty() || path.starts_with('/') || path.contains('\0')) return false;
  const auto parts = split(path, '/');
  if (std::ranges::find(parts, "..") != parts.end()) return false;
  const auto allows = [&](std::string_view by) {
    return rules_.judge(by, path, Decision::allow).decision == Decision::allow;
  };
  return allows("Read") && (tool == "Read" || allows(tool));
}

}  // namespace deputy
