// What the child does to itself before it becomes the program: limits, no way to gain privileges, for who
// asks for it a mount namespace with little in it (enclosure.h), Landlock, no capabilities, the system call
// filter. Levels: 0 not confined, 1 all of that, 2 the same in namespaces of its own, which bwrap has made,
// 3 in a cgroup too, which deputy has made.
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

// Limits that are kept at every level. False, with errno, when one was refused.
bool set_limits(const Options& options);

// Into all of the cgroups, before the program is started. False, with errno, when one cannot be entered.
bool enter_groups(const Options& options);

// As far as this machine goes and `options.aim` says. `init` is the process that supervises.
Confinement confine(const Options& options, pid_t init);

}  // namespace deputy::init
