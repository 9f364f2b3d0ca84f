// What of a workspace a session may be shown by tools that find paths themselves. Read is judged before it
// runs; what Grep, Glob and List come upon is judged here, by the same rules, path by path, before the model
// sees it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "guard/rules.h"
#include "transcript/session.h"

namespace deputy {

class Sight {
 public:
  // Of the rules in force for the session. Rules that cannot be read show nothing: an Error.
  static Result<Sight> of(const Session& session);

  // Whether `path` lies in the workspace, and neither Read's rules nor those of `tool` deny it or want to be
  // asked.
  bool shows(std::string_view tool, std::string_view path) const;

 private:
  explicit Sight(Rules rules) : rules_(std::move(rules)) {}
  Rules rules_;
};

}  // namespace deputy
