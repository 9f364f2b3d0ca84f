// Text as a profile of one format: it is refused with a message that can be shown, or it is read, and then it
// has a name that can be typed, rules that are rules, and nothing that its parent may not.
#pragma once

#include <array>

#include "base/text.h"
#include "choice.h"
#include "delegation/profile_file.h"
#include "delegation/profile_inheritance.h"
#include "delegation/profiles.h"
#include "guard/rules.h"
#include "must.h"

namespace deputy {

inline int read_as(ProfileFormat format, const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto read = read_profile(format, text, "file");
  if (!read) {
    must(!read.error().message.empty() && is_utf8(read.error().message) && is_utf8(read.error().advice));
    return 0;
  }
  const Profile& profile = read->profile;
  must(!profile.name.empty() && profile.name.size() <= 64 && made_visible(profile.name) == profile.name);
  must(is_utf8(profile.instructions) && is_utf8(to_json_text(read->unknown)));
  for (const auto& warning : read->warnings) must(warning.line >= 0 && is_utf8(warning.text));
  for (const auto* rules :
       {&profile.permissions.allow, &profile.permissions.ask, &profile.permissions.deny}) {
    for (const auto& rule : *rules) must(parse_rule(Decision::deny, rule).has_value());
  }
  static const Rules of_parent({{Decision::deny, "Bash", "rm:*"}, {Decision::allow, "Bash", "ls:*"}});
  Session parent;
  parent.workspace_mode = WorkspaceMode::scratch;
  parent.permissions = of_parent.to_json();
  const auto child = inherited_session(parent, profile, {.made_by = ModelName("a/b")});
  must(child.has_value() == unknown_tools(profile).empty());
  if (!child) return 0;
  must(!child->network && child->workspace_mode != WorkspaceMode::shared &&
       child->workspace_mode != WorkspaceMode::worktree);
  const auto rules = Rules::from_json(child->permissions);
  must(rules.has_value());
  static constexpr std::array kCommands{"rm a", "ls a", "make"};
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    if (!is_chosen(size, i, kCommands.size())) continue;
    must(rules->judge_command(kCommands[i], Decision::ask).decision >=
         of_parent.judge_command(kCommands[i], Decision::ask).decision);
  }
  return 0;
}

}  // namespace deputy
