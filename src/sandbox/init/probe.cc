#include "sandbox/init/probe.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/init/confine.h"
#include "sandbox/init/filter.h"
#include "sandbox/init/landlock.h"
#include "sandbox/init/tree.h"

namespace deputy::init {
namespace {

// Each is tried in a child, which keeps what it does to itself.
template <class Attempt>
int outcome_of(Attempt attempt) {
  const pid_t child = fork();
  if (child == 0) _exit(attempt());
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int level_of(Options options) {
  options.isolated = options.isolated && getppid() == 1;
  if (options.group_count > 0 && !enter_groups(options)) options.group_count = 0;
  return Tree().open() ? confine(options, getppid()).level : 0;
}
int filters() {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && Filter({.init = getppid()}).install() ? 1 : 0;
}
// Some systems let everybody make a user namespace, and do nothing in it.
int separates() {
  return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) == 0 &&
                 mount("tmpfs", "/proc", "tmpfs", 0, nullptr) == 0
             ? 1
             : 0;
}

}  // namespace

void print_probe(const Options& options) {
  const auto text = [](int value) { return value ? "true" : "false"; };
  printf("{\"level\":%d,\"landlock_abi\":%d,\"seccomp\":%s,\"userns\":%s}\n",
         outcome_of([&] { return level_of(options); }), landlock_abi(), text(outcome_of(filters)),
         text(outcome_of(separates)));
}

}  // namespace deputy::init
