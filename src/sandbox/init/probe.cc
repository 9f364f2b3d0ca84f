#include "sandbox/init/probe.h"

#include <sched.h>
#include <stdio.h>
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
bool works(bool (*attempt)()) {
  const pid_t child = fork();
  if (child == 0) _exit(attempt() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool confines() { return Tree().open() && confine(Options{}, getppid()).level >= 1; }
bool filters() { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && Filter(getppid()).install(); }
bool separates() {
  return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) == 0;
}

}  // namespace

void print_probe() {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  printf("{\"level\":%d,\"landlock_abi\":%d,\"seccomp\":%s,\"userns\":%s}\n", works(confines) ? 1 : 0,
         landlock_abi(), text(works(filters)), text(works(separates)));
}

}  // namespace deputy::init
