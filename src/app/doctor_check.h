// One thing that `deputy doctor` has looked at, and what it says of a sandbox.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/processes.h"

namespace deputy {

enum class Need { required, useful };

struct Check {
  std::string name;
  Need need = Need::required;
  bool is_fine = false;
  std::string found;  // what is there, or what is wrong
  std::string fix;
};

Check check_sandbox(const Result<Capability>& can, bool is_root);

}  // namespace deputy
