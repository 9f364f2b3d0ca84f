// What deputy-init says about a run on its status descriptor (init/protocol.h), as a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/processes.h"

namespace deputy {

struct StatusRecord {
  bool began = false;     // deputy-init was reached
  bool confined = false;  // the program was about to begin
  SandboxLevel level = SandboxLevel::none;
  std::optional<std::string> refused;  // why it could not be confined
  std::optional<int> unstarted;        // the errno of the failed start
  std::optional<int> exit_status;      // 128 + signal where one ended it; set only when nothing is left of it
  bool timed_out = false;
  std::optional<ProcessUse> use;
};

// What it does not understand it leaves out.
StatusRecord parse_status(std::string_view text);

}  // namespace deputy
