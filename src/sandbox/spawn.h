// Starting deputy-init with a program to confine: descriptors, arguments, environment. Does not wait for
// anything. Never forks: posix_spawn does not copy deputy's memory, and is safe beside threads.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/owned_fd.h"

namespace deputy {

// A running deputy-init. Closing `lifeline` has it kill everything at once.
struct Spawned {
  pid_t pid = 0;
  OwnedFd process;  // a pidfd
  OwnedFd lifeline;
  OwnedFd output;  // the read ends, non-blocking
  OwnedFd errors;
  OwnedFd status;
};

struct SpawnRequest {
  std::string init_path;
  std::vector<std::string> arguments;  // deputy-init's own, then "--" and the program's
  std::map<std::string, std::string> environment;
  int start = -1;  // becomes init::kStart
};

Result<Spawned> spawn_init(const SpawnRequest& request);

// The program's path: a name is looked for in /usr/local/bin, /usr/bin and /bin, an absolute path is taken as
// it is.
Result<std::string> find_program(const std::string& name);

}  // namespace deputy
