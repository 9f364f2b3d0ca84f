#include "app/crash_restore.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace deputy {
namespace {

using ::testing::HasSubstr;

constexpr int kWentOn = 42;

// A terminal that this process holds both ends of, and a process on it that dies.
class CrashRestoreTest : public ::testing::TestWithParam<int> {
 protected:
  CrashRestoreTest() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(master_);
    ::unlockpt(master_);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~CrashRestoreTest() override {
    ::close(slave_);
    ::close(master_);
  }
  termios mode() const {
    termios found{};
    EXPECT_EQ(::tcgetattr(slave_, &found), 0);
    return found;
  }
  // How the process ended that took the terminal and met the signal.
  int die_of(int number) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto terminal = RawTerminal::take(slave_, slave_);
      if (!terminal) ::_exit(1);
      const CrashRestore restore(*terminal);
      ::raise(number);
      ::_exit(kWentOn);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  int master_ = -1;
  int slave_ = -1;
};

TEST_P(CrashRestoreTest, TheTerminalIsAsItWasAndTheProcessStillDies) {
  const termios before = mode();
  ASSERT_TRUE(before.c_lflag & ICANON);
  const int status = die_of(GetParam());
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

INSTANTIATE_TEST_SUITE_P(EverySignal, CrashRestoreTest,
                         ::testing::Values(SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT));

}  // namespace
}  // namespace deputy
