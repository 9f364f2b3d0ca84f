// What of a workspace a session may be shown by tools that find paths themselves. Read is judged before it
// runs; what Grep, Glob and List come upon is judged here, by the same rules, name by name, before the model
// sees it. Names are those of a Target, without links: relative to the workspace, absolute in another root.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guard/rules.h"
#include "tools/tool.h"

namespace deputy {

class Sight {
 public:
  // Of the rules in force for the session. Rules that cannot be read show nothing: an Error.
  static Result<Sight> of(const ToolContext& context);
  // As of() for a session that reaches nothing but its workspace and has no children.
  static Result<Sight> of(const Session& session);

  // Whether `name` lies in the workspace or a root, not in somebody else's scratch folder, and neither Read's
  // rules nor those of `tool` deny it or want to be asked.
  bool shows(std::string_view tool, std::string_view name) const { return shows(tool, name, 1); }
  // The same of a file's content: with a second name it needs a rule that allows it.
  bool shows(std::string_view tool, std::string_view name, const FileStatus& status) const {
    return shows(tool, name, status.names);
  }

 private:
  Sight() = default;
  bool lies_in_reach(std::string_view name) const;
  bool is_hidden(std::string_view name) const;
  bool shows(std::string_view tool, std::string_view name, std::uint64_t names) const;

  Rules rules_;
  Roots roots_of_rules_;
  Session session_;  // who it is; no more
  std::vector<std::string> roots_;
  std::vector<SessionId> children_;
  std::vector<std::string> hidden_;
};

}  // namespace deputy
