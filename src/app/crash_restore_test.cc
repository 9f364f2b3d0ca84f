#include "app/crash_restore.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string>

namespace deputy {
namespace {

using ::testing::HasSubstr;

constexpr int kWentOn = 42;

// A terminal that this process holds both ends of, and a process on it that dies.
class ADyingProcess : public ::testing::Test {
 protected:
  ADyingProcess() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(master_);
    ::unlockpt(master_);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~ADyingProcess() override {
    ::close(slave_);
    ::close(master_);
  }
  termios mode() const {
    termios found{};
    EXPECT_EQ(::tcgetattr(slave_, &found), 0);
    return found;
  }
  // How the process ended that took the terminal and made its mistake.
  template <class Mistake>
  int die_of(Mistake mistake) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto terminal = RawTerminal::take(slave_, slave_);
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
    char bytes[4096];
    const ssize_t count = ::read(master_, bytes, sizeof bytes);
    ASSERT_GT(count, 0);
    const std::string shown(bytes, static_cast<std::size_t>(count));
    EXPECT_THAT(shown, HasSubstr("\x1b[?25h")) << "the cursor is shown";
    EXPECT_THAT(shown, HasSubstr("\x1b[?2004l")) << "pastes are not marked any more";
  }
  int master_ = -1;
  int slave_ = -1;
};

class CrashRestoreTest : public ADyingProcess, public ::testing::WithParamInterface<int> {};

TEST_P(CrashRestoreTest, TheTerminalIsAsItWasAndTheProcessStillDies) {
  expect_restored_after([number = GetParam()] { ::raise(number); });
}

INSTANTIATE_TEST_SUITE_P(EverySignal, CrashRestoreTest,
                         ::testing::Values(SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT));

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
