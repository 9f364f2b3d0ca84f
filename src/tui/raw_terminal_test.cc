#include "tui/raw_terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "support/pseudo_terminal.h"

namespace deputy {
namespace {

bool is_cooked(const PseudoTerminal& terminal) {
  termios mode{};
  EXPECT_EQ(::tcgetattr(terminal.program(), &mode), 0);
  return (mode.c_lflag & ICANON) != 0;
}

TEST(RawTerminal, IsLeftAndEnteredAgainWhereItTakesNothing) {
  const PseudoTerminal terminal;
  const auto raw = RawTerminal::take(terminal.program(), terminal.program());
  ASSERT_TRUE(raw);
  EXPECT_FALSE(is_cooked(terminal));
  terminal.stop();
  ::alarm(60);  // rather than for ever
  raw->restore();
  EXPECT_TRUE(is_cooked(terminal));
  raw->enter();
  EXPECT_FALSE(is_cooked(terminal));
  ::alarm(0);
  terminal.go_on();
}

TEST(RawTerminal, WhoseKeysAreLeftMakesCtrlCASignalAndNothingElse) {
  const PseudoTerminal terminal;
  const auto raw = RawTerminal::take(terminal.program(), terminal.program());
  ASSERT_TRUE(raw);
  terminal.type("\x03");
  char key = 0;
  EXPECT_EQ(::read(terminal.program(), &key, 1), 1) << "control: until then it is a key";
  raw->leave_keys();
  terminal.type("\x03\x1a\x1cl");
  std::string keys(8, ' ');
  ::alarm(60);  // rather than for ever
  std::size_t count = 0;
  while (count < 3) count += static_cast<std::size_t>(::read(terminal.program(), &keys[count], 3 - count));
  ::alarm(0);
  EXPECT_EQ(keys.substr(0, count), "\x1a\x1cl") << "what others typed is theirs to read";
  EXPECT_FALSE(is_cooked(terminal));
}

// Shown again and not, as where a question is asked meanwhile.
TEST(RawTerminal, WhoseKeysAreUnseenTakesLinesAndSignalsAsEver) {
  const PseudoTerminal terminal;
  const auto modes = [&terminal] {
    termios mode{};
    EXPECT_EQ(::tcgetattr(terminal.program(), &mode), 0);
    return mode.c_lflag;
  };
  const tcflag_t before = modes();
  ASSERT_TRUE(before & ECHO) << "control";
  {
    const auto quiet = RawTerminal::take(terminal.program(), terminal.program(), RawTerminal::Keys::unseen);
    ASSERT_TRUE(quiet);
    EXPECT_EQ(modes(), before & ~static_cast<tcflag_t>(ECHO | ECHONL));
    quiet->show_keys();
    EXPECT_EQ(modes(), before);
    quiet->enter();
    EXPECT_FALSE(modes() & ECHO);
  }
  EXPECT_EQ(modes(), before);
}

TEST(RawTerminal, KeepsWhatWasTypedUnseenForWhoReadsNext) {
  const PseudoTerminal terminal;
  {
    const auto quiet = RawTerminal::take(terminal.program(), terminal.program(), RawTerminal::Keys::unseen);
    ASSERT_TRUE(quiet);
    terminal.type("next\n");
  }
  std::string line(16, ' ');
  ::alarm(60);  // rather than for ever
  const ssize_t count = ::read(terminal.program(), line.data(), line.size());
  ::alarm(0);
  EXPECT_EQ(line.substr(0, static_cast<std::size_t>(count)), "next\n");
}

// How a job ends that has the terminal, and that goes on once its shell has taken it back.
int end_of_a_job(int terminal) {
  ::alarm(60);  // rather than for ever
  ::setpgid(0, 0);
  ::tcsetpgrp(terminal, ::getpid());
  ::signal(SIGTTOU, SIG_DFL);
  const auto quiet = RawTerminal::take(terminal, terminal, RawTerminal::Keys::unseen);
  if (!quiet || is_in_background(terminal)) return 1;
  ::raise(SIGSTOP);
  if (!is_in_background(terminal)) return 2;
  quiet->show_keys();
  quiet->restore();
  termios mode{};
  ::tcgetattr(terminal, &mode);
  ::_exit((mode.c_lflag & ECHO) == 0 ? 0 : 3);
}

TEST(RawTerminal, IsNotGivenBackByWhoHasItNoMore) {
  const PseudoTerminal terminal;
  const pid_t shell = ::fork();
  if (shell == 0) {
    ::alarm(60);  // rather than for ever
    ::setsid();
    ::signal(SIGTTOU, SIG_IGN);
    if (::ioctl(terminal.program(), TIOCSCTTY, 0) != 0) ::_exit(4);
    const pid_t job = ::fork();
    if (job == 0) ::_exit(end_of_a_job(terminal.program()));
    int status = 0;
    ::waitpid(job, &status, WUNTRACED);
    if (!WIFSTOPPED(status)) ::_exit(5);
    ::tcsetpgrp(terminal.program(), ::getpgrp());
    ::kill(job, SIGCONT);
    ::waitpid(job, &status, WUNTRACED);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 6);  // stopped, for touching it
  }
  int status = 0;
  ASSERT_EQ(::waitpid(shell, &status, 0), shell);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace deputy
