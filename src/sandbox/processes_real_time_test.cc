// Ends that come while a program runs. These depend on real time, so they run in the long part only.
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>

#include "async/descriptor.h"
#include "async/task_group.h"
#include "sandbox/init/protocol.h"
#include "sandbox/processes_fixture.h"
#include "sandbox/spawn.h"

namespace deputy {
namespace {

using std::chrono::seconds;

class ProcessesRealTime : public ProcessesFixture {
 protected:
  // The program, three daemons of it that have left its session and their parents, all deaf to SIGTERM, and
  // deputy-init.
  ProcessSpec tree(const std::string& mark) {
    return perl(R"(
        $SIG{TERM} = $SIG{HUP} = $SIG{INT} = 'IGNORE';
        for (1 .. 3) {
          next if fork;
          POSIX::setsid();
          exit if fork;
          sleep 1000 while 1;
        }
        wait for 1 .. 3;
        print 'up';
        sleep 1000 while 1)",
                {mark});
  }
  static constexpr int kTreeSize = 5;
};

TEST_F(ProcessesRealTime, ATimeLimitEndsItGently) {
  auto wanted = perl("$SIG{TERM} = sub { print 'bye'; exit 5 }; print 'up '; sleep 1000 while 1");
  wanted.time_limit = seconds(1);
  const auto result = run_it(std::move(wanted));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "up bye");
  EXPECT_EQ(result.exit_status, 5);
}

TEST_F(ProcessesRealTime, ATimeLimitEndsWhatDoesNotListen) {
  const auto mark = new_mark();
  auto wanted = tree(mark);
  wanted.time_limit = seconds(2);
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(count_marked(mark), 0);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_status, 128 + SIGKILL);
  EXPECT_EQ(result.output, "up");
}

TEST_F(ProcessesRealTime, ATimeLimitEndsAnEndlessWriter) {
  auto wanted = spec({"yes"});
  wanted.time_limit = seconds(1);
  wanted.max_output = 1000;
  const auto result = run_it(std::move(wanted));
  EXPECT_TRUE(result.timed_out);
  EXPECT_TRUE(result.cut);
  EXPECT_EQ(result.output.size(), 1000u);
  EXPECT_EQ(result.exit_status, 128 + SIGTERM);
}

Task<> keep_result(SystemProcesses& processes, ProcessSpec wanted, StopToken stop,
                   Result<ProcessResult>* result) {
  *result = co_await processes.run(std::move(wanted), stop);
}

Task<> stop_when_marked(SystemLoop& loop, SystemProcesses& processes, ProcessSpec wanted, Task<bool> until_up,
                        bool* up, Result<ProcessResult>* result) {
  TaskGroup group(loop);
  group.spawn(keep_result(processes, std::move(wanted), group.token(), result));
  *up = co_await std::move(until_up);
  co_await group.stop(StopReason::user);
}

TEST_F(ProcessesRealTime, AStopEndsTheWholeTree) {
  const auto mark = new_mark();
  bool up = false;
  Result<ProcessResult> result;
  run(loop_,
      stop_when_marked(loop_, processes_, tree(mark), until_marked(loop_, mark, kTreeSize), &up, &result));
  EXPECT_TRUE(up);
  EXPECT_EQ(count_marked(mark), 0);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), Error::cancelled());
}

// Each generation lives for an instant: whoever would kill by a list of pids comes too late.
TEST_F(ProcessesRealTime, AStopEndsATreeThatKeepsForking) {
  const auto mark = new_mark();
  // The last child is a steady one: when it is there, so are the others.
  auto wanted = perl(R"(
      $SIG{TERM} = 'IGNORE';
      $SIG{CHLD} = 'IGNORE';
      for (1 .. 4) { fork or do { while (1) { exit if fork } } }
      fork;
      sleep 1000 while 1)",
                     {mark});
  bool up = false;
  Result<ProcessResult> result;
  run(loop_,
      stop_when_marked(loop_, processes_, std::move(wanted), until_marked(loop_, mark, 3), &up, &result));
  EXPECT_TRUE(up);
  EXPECT_EQ(count_marked(mark), 0);
  EXPECT_EQ(result.error(), Error::cancelled());
}

TEST_F(ProcessesRealTime, StopsManyAtOnce) {
  const auto mark = new_mark();
  TaskGroup group(loop_);
  std::vector<Result<ProcessResult>> results(8);
  for (auto& result : results) group.spawn(keep_result(processes_, tree(mark), group.token(), &result));
  EXPECT_TRUE(run(loop_, until_marked(loop_, mark, 8 * kTreeSize)));
  run(loop_, group.stop(StopReason::shutdown));
  EXPECT_EQ(count_marked(mark), 0);
  for (const auto& result : results) EXPECT_EQ(result.error(), Error::cancelled());
}

// What kill -9 of deputy itself does.
TEST_F(ProcessesRealTime, NothingOutlivesAKilledParent) {
  const auto mark = new_mark();
  const pid_t parent = ::fork();
  if (parent == 0) {
    SystemLoop loop;
    SystemProcesses processes(loop, bin_dir() + "/deputy-init");
    (void)run(loop, processes.run(tree(mark), {}));
    _exit(1);
  }
  EXPECT_TRUE(run(loop_, until_marked(loop_, mark, kTreeSize)));
  ::kill(parent, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(run(loop_, until_marked(loop_, mark, 0)));
}

// As where deputy was killed just before: what our own words have raised does not end the program.
TEST_F(ProcessesRealTime, AProgramThatBeginsWhenNobodyReadsIsNotEndedByThat) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto status = std::to_string(ends[1]);
  const auto init = bin_dir() + "/deputy-init";
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::execl(init.c_str(), init.c_str(), "--status", status.c_str(), "--need-level", "1", "--", "/bin/true",
            nullptr);
    _exit(1);
  }
  int ended = 0;
  EXPECT_EQ(::waitpid(parent, &ended, 0), parent);
  EXPECT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 0);
  ::close(ends[1]);
}

// The same by the life line alone: nobody has died, and no signal is sent.
TEST_F(ProcessesRealTime, ACutLifeLineKillsEverything) {
  const auto mark = new_mark();
  std::vector<std::string> arguments{
      "--lifeline", std::to_string(init::kLifeline), "--need-level", "1", "--", "/usr/bin/perl"};
  const auto argv = tree(mark).argv;
  arguments.insert(arguments.end(), argv.begin() + 1, argv.end());
  auto spawned =
      spawn_init({.program = bin_dir() + "/deputy-init", .arguments = arguments, .environment = {}});
  ASSERT_TRUE(spawned.has_value()) << to_text(spawned.error());
  EXPECT_TRUE(run(loop_, until_marked(loop_, mark, kTreeSize)));
  spawned->lifeline.reset();
  EXPECT_EQ(run(loop_, wait_readable(loop_, spawned->process.get(), {})), Readiness::ready);
  EXPECT_EQ(count_marked(mark), 0);
  EXPECT_EQ(::waitpid(spawned->pid, nullptr, 0), spawned->pid);
}

TEST_F(ProcessesRealTime, StartsInMillisecondsAtEachLevel) {
  constexpr int kRounds = 41;
  const SandboxLevel levels[] = {SandboxLevel::none, SandboxLevel::restricted, SandboxLevel::isolated,
                                 SandboxLevel::metered};
  std::vector<Duration> took[std::size(levels)];
  for (int round = 0; round < kRounds; ++round) {  // in turn, so that a busy moment hits all
    for (std::size_t i = 0; i < std::size(levels) && has_level(levels[i]); ++i) {
      level_ = levels[i];
      const auto start = loop_.clock().now();
      EXPECT_EQ(run_it(spec({"true"})).exit_status, 0);
      took[i].push_back(loop_.clock().now() - start);
    }
  }
  for (std::size_t i = 0; i < std::size(levels) && !took[i].empty(); ++i) {
    std::ranges::nth_element(took[i], took[i].begin() + kRounds / 2);
    const auto median = std::chrono::duration<double, std::milli>(took[i][kRounds / 2]).count();
    std::printf("L%zu: %.1f ms\n", i, median);
    EXPECT_LT(median, 500);
  }
}

TEST_F(ProcessesRealTime, AStoppedInitIsWokenAndEnds) {
  const auto mark = new_mark();
  TaskGroup group(loop_);
  Result<ProcessResult> result;
  group.spawn(keep_result(processes_, tree(mark), group.token(), &result));
  EXPECT_TRUE(run(loop_, until_marked(loop_, mark, kTreeSize)));
  for (const pid_t init : find_processes({mark, "deputy-init"})) ::kill(init, SIGSTOP);
  run(loop_, group.stop(StopReason::user));
  EXPECT_EQ(count_marked(mark), 0);
  EXPECT_EQ(result.error(), Error::cancelled());
}

}  // namespace
}  // namespace deputy
