// deputy-init: the parent of a confined program. It starts the program, ends its whole tree, and passes its
// exit status on (128 + the signal that ended it). It trusts nothing that the program does; deputy trusts it
// to leave nothing behind.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

// The lowest of our descriptors from there on; ~0 when there is none.
unsigned next_of_ours(const Options& options, unsigned from) {
  unsigned next = ~0U;
  const auto consider = [&](int kept) {
    if (kept >= static_cast<int>(from) && static_cast<unsigned>(kept) < next)
      next = static_cast<unsigned>(kept);
  };
  const int single[] = {options.lifeline, options.start, options.status, options.record, options.environment};
  for (const int kept : single) consider(kept);
  for (int i = 0; i < options.grant_count; ++i) consider(options.grants[i].descriptor);
  for (int i = 0; i < options.group_count; ++i) consider(options.groups[i]);
  return next;
}

// Everything above the standard streams but our own, which the program must not get either.
bool close_others(const Options& options) {
  const unsigned last = ~0U;
  unsigned from = 3;
  for (;;) {
    const unsigned next = next_of_ours(options, from);
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
  // One that waits because nobody reads our own words any more is not the program's: this takes it away.
  signal(SIGPIPE, SIG_IGN);
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

// Where the program starts. An isolated one must not get the descriptor itself, which leads out of its mount
// namespace, but what is mounted there must be the same directory.
bool enter_directory(const Options& options) {
  if (!options.isolated) return (options.start >= 0 ? fchdir(options.start) : chdir("/")) == 0;
  if (chdir(options.directory ? options.directory : "/") != 0) return false;
  if (options.start < 0) return true;
  struct stat wanted{};
  struct stat found{};
  if (fstat(options.start, &wanted) != 0 || stat(".", &found) != 0) return false;
  errno = ESTALE;
  return wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino;
}

// The empty input that it was given stands in the outer mount namespace, where root could change its mode.
bool take_own_input(const Options& options) {
  if (!options.isolated) return true;
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0) return false;
  close(null);
  return true;
}

// The devices are the machine's own, mounted once more: root could change their modes for everybody. bwrap
// cannot mount a device read-only; writing to one is not affected.
bool seal_devices() {
  const char* const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                 "/dev/random", "/dev/urandom", "/dev/tty"};
  struct {
    unsigned long long set, clear, propagation, userns;
  } read_only = {1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0};
  for (const char* device : devices) {
    const long result = syscall(SYS_mount_setattr, AT_FDCWD, device, 0, &read_only, sizeof read_only);
    if (result != 0 && errno != ENOENT) return false;
  }
  return true;
}

// NUL-terminated texts in a file, as execve() wants them. Null, with errno, when it cannot be read.
char** read_environment(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0) return nullptr;
  const auto size = static_cast<size_t>(status.st_size);
  char* text = static_cast<char*>(malloc(size + 1));
  if (!text || pread(file, text, size, 0) != static_cast<ssize_t>(size)) return nullptr;
  text[size] = '\0';
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) count += text[i] == '\0';
  char** variables = static_cast<char**>(calloc(count + 1, sizeof(char*)));
  if (!variables) return nullptr;
  char* next = text;
  for (size_t i = 0; i < count; ++i) {
    variables[i] = next;
    next += strlen(next) + 1;
  }
  return variables;
}

// In the child: becomes the program, or says why not.
[[noreturn]] void become_program(const Options& options, pid_t init) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != init) _exit(kExitRefused);
  setpgid(0, 0);  // so that its kill(0) does not reach init
  umask(077);
  be_first_to_go();
  if (!enter_directory(options)) refuse(options, "entering the directory", errno);
  if (!take_own_input(options)) refuse(options, "opening /dev/null", errno);
  char** variables = options.environment >= 0 ? read_environment(options.environment) : environ;
  if (!variables) refuse(options, "reading the environment", errno);
  if (!set_limits(options)) refuse(options, "setting limits", errno);
  const Confinement reached = confine(options, init);
  if (reached.level < options.need_level)
    refuse(options, reached.missing, reached.level > 0 ? 0 : reached.error);
  if (options.status >= 0)
    dprintf(options.status, "%s %d %d\n", kConfined, reached.level, reached.landlock_abi);
  if (options.record >= 0) {
    const bool is_kept =
        dprintf(options.record, "%s %d %d\n", kConfined, reached.level, reached.landlock_abi) > 0 &&
        fdatasync(options.record) == 0;
    if (!is_kept) refuse(options, "writing down that it begins", errno);
  }
  reset_signals();
  execve(options.argv[0], options.argv, variables);
  const int error = errno;
  const int told[] = {options.status, options.record};
  for (const int file : told)
    if (file >= 0) dprintf(file, "%s %d\n", kUnstarted, error);
  dprintf(STDERR_FILENO, "deputy-init: cannot execute %s: %s\n", options.argv[0], strerror(error));
  _exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

// All of the tree was waited for here.
void report_use(int file) {
  rusage used{};
  if (getrusage(RUSAGE_CHILDREN, &used) != 0) return;
  const long long seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
  const long long microseconds = used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  dprintf(file, "%s %lld %ld\n", kUsed, seconds * 1000000 + microseconds, used.ru_maxrss);
}

int report(const Options& options, const Supervisor& supervisor, int status) {
  const bool exited = WIFEXITED(status);
  const int value = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  if (options.status >= 0) {
    if (supervisor.timed_out()) dprintf(options.status, "%s\n", kTimeout);
    report_use(options.status);
    dprintf(options.status, "%s %d\n", exited ? kEndedExit : kEndedSignal, value);
  }
  // What deputy's own end has ended has no outcome of its own.
  if (options.record >= 0 && !supervisor.was_orphaned()) {
    if (supervisor.timed_out()) dprintf(options.record, "%s\n", kTimeout);
    dprintf(options.record, "%s %d\n", exited ? kEndedExit : kEndedSignal, value);
    fdatasync(options.record);
  }
  return exited ? value : 128 + value;
}

// What only the child needed. Some of it leads out of a mount namespace.
void close_shared(const Options& options) {
  if (options.start >= 0) close(options.start);
  if (options.environment >= 0) close(options.environment);
  for (int i = 0; i < options.grant_count; ++i) close(options.grants[i].descriptor);
  for (int i = 0; i < options.group_count; ++i) close(options.groups[i]);
}

bool is_cut(int lifeline) {
  pollfd asked{lifeline, 0, 0};
  return lifeline >= 0 && poll(&asked, 1, 0) > 0 && (asked.revents & POLLHUP);
}

int run(Options& options) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (!close_others(options)) refuse(options, "closing inherited descriptors", errno);
  // The life line tells too that deputy is gone, unless somebody else holds its other end. Not SIGKILL:
  // somebody must stay to end the tree.
  // As the first of a namespace we may go: the kernel ends all that is in it.
  prctl(PR_SET_PDEATHSIG, options.isolated ? SIGKILL : SIGHUP);
  if (options.isolated && getpid() != 1) refuse(options, "being the first in a PID namespace", 0);
  if (options.isolated && geteuid() == 0 && !seal_devices()) refuse(options, "sealing /dev", errno);
  if (options.parent > 0 && getppid() != options.parent) return kExitRefused;
  if (is_cut(options.lifeline)) return kExitRefused;
  if (options.status >= 0) dprintf(options.status, "%s\n", kInside);
  if (!enter_groups(options)) {
    if (options.need_level > 2) refuse(options, "entering a cgroup", errno);
    options.group_count = 0;
  }
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
  close_shared(options);
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
    deputy::init::print_probe(options);
    return 0;
  }
  return deputy::init::run(options);
}
