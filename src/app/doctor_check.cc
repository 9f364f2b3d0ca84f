#include "app/doctor_check.h"

#include <fmt/format.h>

namespace deputy {
namespace {

// What a command that a model runs is kept from, level by level.
constexpr std::string_view kSandboxLevels[] = {
    "level 0 of 3: commands cannot be confined here, so none will be run",
    "level 1 of 3: commands reach only the files and the network they were given",
    "level 2 of 3: commands see only what they were given, in namespaces of their own",
    "level 3 of 3: commands see only what they were given, in namespaces of their own, within limits"};

}  // namespace

Check check_sandbox(const Result<Capability>& can, uid_t user) {
  Check check{.name = "sandbox"};
  if (!can) {
    check.found = can.error().message;
    check.fix = can.error().advice;
    return check;
  }
  check.need = can->level == SandboxLevel::none ? Need::required : Need::useful;
  check.is_fine = can->level >= SandboxLevel::isolated;
  check.found = fmt::format("{} (Landlock ABI {}, seccomp {}, user namespaces {}, as {})",
                            kSandboxLevels[static_cast<std::size_t>(can->level)], can->landlock_abi,
                            can->seccomp ? "yes" : "no", can->user_namespaces ? "yes" : "no",
                            user == 0 ? "root" : "an ordinary user");
  if (!can->why.empty()) check.found += fmt::format("; not higher because {}", can->why);
  check.fix = can->fix;
  return check;
}

}  // namespace deputy
