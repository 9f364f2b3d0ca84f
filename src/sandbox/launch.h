// How a process is started at a level: deputy-init's arguments, bwrap's around them from `isolated` on, and
// the descriptors that both are passed.
#pragma once

#include <string>
#include <vector>

#include "sandbox/control_group.h"
#include "sandbox/grants.h"
#include "sandbox/spawn.h"

namespace deputy {

struct Launch {
  const ProcessSpec& spec;
  const SandboxSettings& settings;
  SandboxLevel level = SandboxLevel::none;
  const ControlGroup* group = nullptr;  // where metered
  std::vector<std::string> command;     // "--" and the program with its arguments, or "--probe"
};

Result<Spawned> spawn_confined(const Launch& launch);

}  // namespace deputy
