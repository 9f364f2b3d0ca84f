// One thing that `deputy doctor` has looked at, and what it says of a sandbox.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "app/program.h"
#include "base/json.h"
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

Check check_sandbox(const Result<Capability>& can, uid_t user);

json::object to_json(const Check& check);

// A bundle of the tree of this session, or of the newest ("newest"), in the current folder.
Ended make_bundle(Program& program, const std::string& typed, const std::vector<Check>& checks);
Ended replay_bundle(Program& program, const std::string& file);

}  // namespace deputy
