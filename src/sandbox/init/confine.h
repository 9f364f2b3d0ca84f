// What the child does to itself before it becomes the program: limits, no way to gain privileges, no
// capabilities, Landlock, the system call filter. Levels: 0 not confined, 1 all of that. Namespaces (2) and
// cgroups (3) are not built yet.
#pragma once

#include <sys/types.h>

#include "sandbox/init/options.h"

namespace deputy::init {

struct Confinement {
  int level = 0;
  int landlock_abi = 0;
  const char* missing = nullptr;  // what kept it from the next level
  int error = 0;                  // and the errno of that
};

inline constexpr long kHighestLevel = 1;

// Limits that are kept at every level. False, with errno, when one was refused.
bool set_limits(const Options& options);

// As far as this machine goes. `init` is the process that supervises.
Confinement confine(const Options& options, pid_t init);

}  // namespace deputy::init
