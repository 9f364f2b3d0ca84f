// The world of an isolated process as bwrap is told to build it: the system read-only, folders of its own
// (/tmp, /run, HOME) that vanish with it, what was granted at its own path, and nothing else. In a granted
// folder deputy's own `.deputy` is not seen, and what git would execute later (`.git/hooks`, `.git/config`)
// cannot be changed, moved away or made anew. What else is kept back stands at its place but cannot be
// opened, or not be changed, and no folder above it can be moved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/grants.h"

namespace deputy {

struct Bubble {
  std::vector<std::string> arguments;  // bwrap's, up to "--"
  std::vector<OwnedFd> descriptors;    // which they name: to be passed on from `first_descriptor` on
  std::optional<std::string> home;     // a folder of its own at the path HOME
};

inline constexpr char kInitInside[] = "/.deputy-init";  // where deputy-init stands in there

Result<Bubble> make_bubble(const ProcessSpec& spec, const std::vector<GrantedFolder>& grants,
                           const SandboxSettings& settings, int first_descriptor);

}  // namespace deputy
