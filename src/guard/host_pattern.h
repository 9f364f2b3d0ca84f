// The pattern of a rule about hosts: domain:example.org means that host and everything beneath it, by
// whatever spelling: case, a trailing dot, and letters beyond ASCII make no difference (host_name.h). An
// address means itself alone; one that is spelled in any other way than four plain numbers is a maybe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "guard/rule_match.h"

namespace deputy {

class HostPattern {
 public:
  static Result<HostPattern> compile(std::string_view text);

  // `host` alone, without scheme, port and path.
  RuleMatch match(std::string_view host) const;

 private:
  std::string host_;
};

}  // namespace deputy
