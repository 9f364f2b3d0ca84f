#include "app/crash_restore.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <string>

#include "support/pseudo_terminal.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

constexpr int kWentOn = 42;

// A process on a terminal that dies.
class ADyingProcess : public ::testing::Test {
 protected:
  termios mode() const {
    termios found{};
    EXPECT_EQ(::tcgetattr(terminal_.program(), &found), 0);
    return found;
  }
  // How the process ended that took the terminal and made its mistake.
  template <class Mistake>
  int die_of(Mistake mistake) const {
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int number : {SIGQUIT, SIGINT, SIGHUP})
        ::signal(number, SIG_DFL);  // ignored in the background
      const auto terminal = RawTerminal::take(terminal_.program(), terminal_.program());
      if (!terminal) ::_exit(1);
      const CrashRestore restore(*terminal);
      mistake();
      ::_exit(kWentOn);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  template <class Mistake>
  void expect_restored_after(Mistake mistake) const {
    const termios before = mode();
    ASSERT_TRUE(before.c_lflag & ICANON);
    const int status = die_of(mistake);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == kWentOn) << "the signal was swallowed";
    EXPECT_EQ(mode().c_lflag, before.c_lflag);
    EXPECT_EQ(mode().c_iflag, before.c_iflag);
    const std::string shown = terminal_.read();
    EXPECT_THAT(shown, HasSubstr("\x1b[?25h")) << "the cursor is shown";
    EXPECT_THAT(shown, HasSubstr("\x1b[?2004l")) << "pastes are not marked any more";
  }
  PseudoTerminal terminal_;
};

class CrashRestoreTest : public ADyingProcess, public ::testing::WithParamInterface<int> {};

TEST_P(CrashRestoreTest, TheTerminalIsAsItWasAndTheProcessStillDies) {
  expect_restored_after([number = GetParam()] { ::raise(number); });
}

INSTANTIATE_TEST_SUITE_P(EverySignal, CrashRestoreTest,
                         ::testing::Values(SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGINT, SIGTERM,
                                           SIGHUP));

// As the kernel sends it, which gives it the code of a fault.
TEST_F(ADyingProcess, WhoseTerminalHangsUpDiesOfThat) {
  expect_restored_after([] {
    siginfo_t info{};
    info.si_signo = SIGHUP;
    info.si_code = SI_KERNEL;
    ::syscall(SYS_rt_sigqueueinfo, ::getpid(), SIGHUP, &info);
  });
}

// Takes a page of the stack at each turn.
int sink(int depth, volatile int& most) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth < most ? sink(depth + 1, most) + page[0] : 0;
}

TEST_F(ADyingProcess, WhoseStackHasOverflowedLeavesTheTerminalAsItWas) {
  expect_restored_after([] {
    rlimit small{};
    ::getrlimit(RLIMIT_STACK, &small);
    small.rlim_cur = 1024 * 1024;
    ::setrlimit(RLIMIT_STACK, &small);
    volatile int most = std::numeric_limits<int>::max();
    ::_exit(sink(0, most) == 0 ? kWentOn : 1);
  });
}

}  // namespace
}  // namespace deputy
