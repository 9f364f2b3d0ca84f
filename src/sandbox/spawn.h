// Starting deputy-init, by itself or in bwrap, with a program to confine: descriptors, arguments,
// environment. Does not wait for anything. Never forks: posix_spawn does not copy deputy's memory, and is
// safe beside threads.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/owned_fd.h"

namespace deputy {

// A running deputy-init, or the bwrap that it runs in. Closing `lifeline` has it kill everything at once.
struct Spawned {
  pid_t pid = 0;
  OwnedFd process;   // a pidfd
  OwnedFd lifeline;  // a socket
  OwnedFd output;    // the read ends, non-blocking
  OwnedFd errors;
  OwnedFd status;
  OwnedFd info;  // a file in which bwrap says which process deputy-init is; only if it was asked for
};

struct SpawnRequest {
  std::string program;                               // deputy-init or bwrap, by path; it gets no environment
  std::vector<std::string> arguments;                // its own, then "--" and the program's
  std::map<std::string, std::string> environment{};  // the program's: becomes init::kEnvironment
  int start = -1;                                    // becomes init::kStart
  std::vector<int> descriptors{};                    // become init::kFirstFree and the following
  int info_at = -1;                                  // where bwrap gets `info`
};

inline constexpr std::size_t kMostDescriptors = 128;

Result<Spawned> spawn_init(const SpawnRequest& request);

// The program's path: a name is looked for in /usr/local/bin, /usr/bin and /bin, an absolute path is taken as
// it is.
Result<std::string> find_program(const std::string& name);

}  // namespace deputy
