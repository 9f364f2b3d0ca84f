// The pattern of a rule about files: relative to the workspace (src/**), absolute (/etc/**) or in the
// person's home
// (~/.ssh/**), matched by Glob against the name that the kernel resolved. A pattern relative to the workspace
// says yes only of what lies in it; of what lies elsewhere and ends alike it says maybe, so **/.env keeps
// every .env from being read and allows only those of the workspace. Names that differ by case, composition
// or invisible characters alone are a maybe too.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "guard/glob.h"
#include "guard/paths.h"
#include "guard/rule_match.h"

namespace deputy {

// A path laid beside the roots, once as it is and once folded.
struct PathSubject {
  PathSubject(std::string_view path, const Roots& roots);
  LocatedPath plain;
  LocatedPath folded;
};

class PathPattern {
 public:
  static Result<PathPattern> compile(std::string_view text);

  RuleMatch match(const PathSubject& subject) const;

 private:
  enum class From { workspace, root, home };
  static RuleMatch match(const Glob& glob, From from, const LocatedPath& path);

  From from_ = From::workspace;
  Glob glob_;
  Glob folded_;
};

}  // namespace deputy
