#include "app/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;

TEST(Interrupts, ASecondOneSoonAfterLeaves) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(0)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(2000)}), SignalAction::leave);
}

TEST(Interrupts, ALaterOneCancelsAgain) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGTERM, TimePoint{milliseconds(0)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(2001)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGTERM, TimePoint{milliseconds(2100)}), SignalAction::leave);
}

TEST(Interrupts, AHangUpLeavesTheWorkToBeResumed) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGHUP, TimePoint{}), SignalAction::suspend);
}

TEST(Interrupts, WhatIsOfTheScreenIsNoneOfThese) {
  Interrupts interrupts;
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(0)}), SignalAction::cancel);
  EXPECT_EQ(interrupts.on_signal(SIGTSTP, TimePoint{milliseconds(1)}), SignalAction::pause);
  EXPECT_EQ(interrupts.on_signal(SIGCONT, TimePoint{milliseconds(2)}), SignalAction::come_back);
  EXPECT_EQ(interrupts.on_signal(SIGWINCH, TimePoint{milliseconds(3)}), SignalAction::resize);
  EXPECT_EQ(interrupts.on_signal(SIGINT, TimePoint{milliseconds(2000)}), SignalAction::leave);
}

TEST(Signals, ArriveAsValuesAndDoNotEndTheProcess) {
  SystemLoop loop;
  auto signals = Signals::take();
  ASSERT_TRUE(signals);
  ::raise(SIGINT);
  EXPECT_EQ(run(loop, signals->next(loop, {})), SIGINT);
}

TEST(Signals, TellOfAWindowOfAnotherSize) {
  SystemLoop loop;
  auto signals = Signals::take();
  ASSERT_TRUE(signals);
  ::raise(SIGWINCH);
  EXPECT_EQ(run(loop, signals->next(loop, {})), SIGWINCH);
}

TEST(Signals, StopWaitingWhenAsked) {
  SystemLoop loop;
  auto signals = Signals::take();
  ASSERT_TRUE(signals);
  StopSource stop;
  stop.request(StopReason::user);
  EXPECT_EQ(run(loop, signals->next(loop, stop.token())), std::nullopt);
}

TEST(Signals, ThatAProcessGoesOnIsToldWhereItWasStoppedByOthersAlone) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);      // rather than for ever
    ::setpgid(0, 0);  // of one that has a parent beside it, as a shell's are
    SystemLoop loop;
    auto signals = Signals::take();
    if (!signals) ::_exit(1);
    signals->stop_process();
    sigset_t waiting;
    ::sigpending(&waiting);
    if (sigismember(&waiting, SIGCONT) == 1) ::_exit(2);
    ::raise(SIGSTOP);
    ::_exit(run(loop, signals->next(loop, {})) == SIGCONT ? 0 : 3);
  }
  int status = 0;
  for (const int number : {SIGTSTP, SIGSTOP}) {
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
    EXPECT_EQ(WSTOPSIG(status), number);
    ::kill(child, SIGCONT);
  }
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// As a script that runs the chat, which nobody but the chat is told of by its Ctrl-Z.
TEST(Signals, AJobIsStoppedWithAllThatWasStartedWithIt) {
  const pid_t script = ::fork();
  if (script == 0) {
    ::alarm(60);  // rather than for ever
    ::setpgid(0, 0);
    const pid_t program = ::fork();
    if (program == 0) {
      ::alarm(60);
      const auto signals = Signals::take();
      if (!signals) ::_exit(1);
      signals->stop_process(StopReach::job);
      ::_exit(0);
    }
    int status = 0;
    while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
    }
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(script, &status, WUNTRACED), script);
  EXPECT_TRUE(WIFSTOPPED(status)) << status;
  // Until both go on: the program may come to its stop after the script has.
  for (pid_t ended = 0; ended == 0; ended = ::waitpid(script, &status, WNOHANG)) {
    ::kill(-script, SIGCONT);
    ::poll(nullptr, 0, 1);
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SignalsDeathTest, EndTheProcessAgainOnceTheyWereGivenBack) {
  const auto signals = Signals::take();
  ASSERT_TRUE(signals);
  EXPECT_EXIT(
      {
        signals->give_back();
        ::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace deputy
