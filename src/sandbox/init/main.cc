// deputy-init: the parent of a confined program. It starts the program, ends its whole tree, and passes its
// exit status on (128 + the signal that ended it). It trusts nothing that the program does; deputy trusts it
// to leave nothing behind.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/init/confine.h"
#include "sandbox/init/options.h"
#include "sandbox/init/probe.h"
#include "sandbox/init/protocol.h"
#include "sandbox/init/supervisor.h"
#include "sandbox/init/tree.h"

namespace deputy::init {
namespace {

[[noreturn]] void refuse(const Options& options, const char* what, int error) {
  const char* reason = error ? strerror(error) : "not available";
  if (options.status >= 0) dprintf(options.status, "%s %s: %s\n", kRefused, what, reason);
  dprintf(STDERR_FILENO, "deputy-init: refused to run %s unconfined: %s: %s\n", options.argv[0], what,
          reason);
  _exit(kExitRefused);
}

// Everything above the standard streams but our own, which the program must not get either.
bool close_others(const Options& options) {
  const unsigned last = ~0U;
  const int ours[] = {options.lifeline, options.start, options.status};
  unsigned from = 3;
  for (;;) {
    unsigned next = last;  // the lowest of ours from there on
    for (const int kept : ours) {
      if (kept >= static_cast<int>(from) && static_cast<unsigned>(kept) < next)
        next = static_cast<unsigned>(kept);
    }
    if (next > from && syscall(SYS_close_range, from, next == last ? last : next - 1, 0) != 0) return false;
    if (next == last) return true;
    if (fcntl(static_cast<int>(next), F_SETFD, FD_CLOEXEC) != 0) return false;
    from = next + 1;
  }
}

// No controlling terminal, and none of its signals. setsid() would do this too, but the scheduler lets a new
// session wait on a busy machine: it doubled the time of a run.
void leave_terminal() {
  setpgid(0, 0);
  const int terminal = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return;
  ioctl(terminal, TIOCNOTTY);
  close(terminal);
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// When memory runs out, it is the program that goes, not deputy.
void be_first_to_go() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "500", 3) != 3) errno = 0;  // a wish only
  close(file);
}

// In the child: becomes the program, or says why not.
[[noreturn]] void become_program(const Options& options, pid_t init) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != init) _exit(kExitRefused);
  setpgid(0, 0);  // so that its kill(0) does not reach init
  umask(077);
  be_first_to_go();
  if ((options.start >= 0 ? fchdir(options.start) : chdir("/")) != 0)
    refuse(options, "entering the directory", errno);
  if (!set_limits(options)) refuse(options, "setting limits", errno);
  const Confinement reached = confine(options, init);
  if (reached.level < options.need_level)
    refuse(options, reached.missing, reached.level > 0 ? 0 : reached.error);
  if (options.status >= 0)
    dprintf(options.status, "%s %d %d\n", kConfined, reached.level, reached.landlock_abi);
  reset_signals();
  execve(options.argv[0], options.argv, environ);
  const int error = errno;
  if (options.status >= 0) dprintf(options.status, "%s %d\n", kUnstarted, error);
  dprintf(STDERR_FILENO, "deputy-init: cannot execute %s: %s\n", options.argv[0], strerror(error));
  _exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

int report(const Options& options, const Supervisor& supervisor, int status) {
  const bool exited = WIFEXITED(status);
  const int value = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  if (options.status >= 0) {
    if (supervisor.timed_out()) dprintf(options.status, "%s\n", kTimeout);
    dprintf(options.status, "%s %d\n", exited ? kEndedExit : kEndedSignal, value);
  }
  return exited ? value : 128 + value;
}

int run(const Options& options) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (!close_others(options)) refuse(options, "closing inherited descriptors", errno);
  // The life line tells too that deputy is gone, unless somebody else holds its other end. Not SIGKILL:
  // somebody must stay to end the tree.
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (options.parent > 0 && getppid() != options.parent) return kExitRefused;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) refuse(options, "becoming a subreaper", errno);
  leave_terminal();
  Tree tree;
  if (!tree.open()) refuse(options, "reading /proc", errno);
  const int signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals < 0) refuse(options, "watching signals", errno);

  const pid_t init = getpid();
  const pid_t program = fork();
  if (program < 0) refuse(options, "starting a process", errno);
  if (program == 0) become_program(options, init);
  prctl(PR_SET_DUMPABLE, 0);
  Supervisor supervisor(options, tree, signals);
  const int status = supervisor.run(program);
  return report(options, supervisor, status);
}

}  // namespace
}  // namespace deputy::init

int main(int count, char** arguments) {
  deputy::init::Options options;
  if (const char* wrong = deputy::init::parse_options(count, arguments, options)) {
    fprintf(stderr, "deputy-init: %s is not understood\n%s", wrong, deputy::init::kUsage);
    return deputy::init::kExitUsage;
  }
  if (options.probe) {
    deputy::init::print_probe();
    return 0;
  }
  return deputy::init::run(options);
}
