#include "sandbox/processes.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "async/task_group.h"
#include "gmock/gmock.h"
#include "sandbox/processes_fixture.h"

namespace deputy {
namespace {

using testing::HasSubstr;

// At each level: what is promised about running does not depend on it.
class RunningProcesses : public ProcessesFixture, public testing::WithParamInterface<SandboxLevel> {
 protected:
  void SetUp() override {
    level_ = GetParam();
    if (!has_level(level_)) GTEST_SKIP() << "this machine does not have the level";
  }
};
INSTANTIATE_TEST_SUITE_P(AtEachLevel, RunningProcesses,
                         testing::Values(SandboxLevel::none, SandboxLevel::restricted, SandboxLevel::isolated,
                                         SandboxLevel::metered),
                         [](const auto& tried) {
                           return "L" + std::to_string(static_cast<int>(tried.param));
                         });

TEST_P(RunningProcesses, CollectsOutputAndErrorsApart) {
  const auto result = run_it(shell("echo out; echo err >&2; echo out again"));
  EXPECT_EQ(result.output, "out\nout again\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_FALSE(result.cut);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.level, level_);
}

TEST_P(RunningProcesses, PassesTheExitStatusOn) {
  // 125 to 127 are what deputy-init itself would say; from a program they are its own.
  for (const int status : {0, 1, 7, 124, 125, 126, 127, 255}) {
    EXPECT_EQ(run_it(shell("exit " + std::to_string(status))).exit_status, status);
  }
  EXPECT_EQ(run_it(shell("kill -9 $$")).exit_status, 128 + 9);
  EXPECT_EQ(run_it(shell("kill -SEGV $$")).exit_status, 128 + 11);
}

// Of all of its tree, also of who has left it.
TEST_P(RunningProcesses, TellsOnceWhatItTookOfCpuAndMemory) {
  int told = 0;
  ProcessUse used;
  ProcessSpec wanted = perl(
      "if (fork() == 0) { setsid(); my $text = 'x' x (40 << 20); "
      "my $until = times() + 0.05; while (times() < $until) {} exit 0 } wait()");
  wanted.on_use = [&](const ProcessUse& use) {
    ++told;
    used = use;
  };
  EXPECT_EQ(run_it(std::move(wanted)).exit_status, 0);
  EXPECT_EQ(told, 1);
  EXPECT_GE(used.cpu, std::chrono::milliseconds(50));
  EXPECT_GE(used.memory, 40 << 20);
}

TEST_P(RunningProcesses, StartsInTheFolder) {
  EXPECT_EQ(run_it(spec({"pwd"})).output, root_ + "/inside\n");
  EXPECT_EQ(run_it(spec({"cat", "file"})).output, "what is inside\n");
}

TEST_P(RunningProcesses, StartsInTheRootWithoutAFolder) {
  auto wanted = spec({"pwd"});
  wanted.folder = nullptr;
  EXPECT_EQ(run_it(std::move(wanted)).output, "/\n");
}

TEST_P(RunningProcesses, TheLongestTimeLimitIsNoneAtAll) {
  auto wanted = spec({"true"});
  wanted.time_limit = std::chrono::seconds::max();
  EXPECT_EQ(run_it(std::move(wanted)).exit_status, 0);
}

TEST_P(RunningProcesses, PassesArgumentsAsTheyAre) {
  const auto result = run_it(spec({"printf", "%s|", "a b", "", "$HOME", "*", "--", "-x", "\xff"}));
  EXPECT_EQ(result.output, "a b||$HOME|*|--|-x|\xff|");
}

TEST_P(RunningProcesses, TheEnvironmentIsExactlyWhatWasGiven) {
  auto wanted = spec({"env"});
  wanted.environment = {{"A", "1"}, {"B", "two words = 2"}, {"EMPTY", ""}};
  EXPECT_EQ(run_it(std::move(wanted)).output, "A=1\nB=two words = 2\nEMPTY=\n");
  wanted = spec({"env"});
  wanted.environment = {};
  EXPECT_EQ(run_it(std::move(wanted)).output, "");
}

TEST_P(RunningProcesses, TheInputIsEmpty) { EXPECT_EQ(run_it(spec({"cat"})).output, ""); }

TEST_P(RunningProcesses, InheritsNoDescriptorOfOurs) {
  const int leaked = ::fcntl(STDIN_FILENO, F_DUPFD, 40);  // without FD_CLOEXEC
  const auto result = run_it(perl("for (0 .. 200) { print \"$_ \" if open(my $file, '<&=', $_) }"));
  EXPECT_EQ(result.output, "0 1 2 ");
  ::close(leaked);
}

TEST_P(RunningProcesses, StartsWithSaneLimitsThoughOursAreRaised) {
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  const rlimit raised{ours.rlim_max, ours.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);
  const auto expected = std::to_string(std::min<rlim_t>(1024, ours.rlim_max)) + "\n0\n0077\n";
  EXPECT_EQ(run_it(shell("ulimit -S -n; ulimit -c; umask")).output, expected);
  ::setrlimit(RLIMIT_NOFILE, &ours);
}

TEST_P(RunningProcesses, OutputOfExactlyTheBoundIsWhole) {
  auto wanted = perl("print 'x' x 1000; print STDERR 'y' x 1000");
  wanted.max_output = 1000;
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output, std::string(1000, 'x'));
  EXPECT_EQ(result.errors, std::string(1000, 'y'));
  EXPECT_FALSE(result.cut);
}

TEST_P(RunningProcesses, OutputOneByteLongerIsCut) {
  auto wanted = perl("print 'x' x 1001");
  wanted.max_output = 1000;
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output, std::string(1000, 'x'));
  EXPECT_TRUE(result.cut);
  EXPECT_EQ(result.output_end.text, "x");
  EXPECT_EQ(result.output_end.left_out, 0u);
}

TEST_P(RunningProcesses, OfALongStreamTheBeginningAndTheEndAreKept) {
  auto wanted = perl("print 'a' x 1000; print 'x' x 300000; print 'the end'");
  wanted.max_output = 1000;
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output, std::string(1000, 'a'));
  const auto& [text, left_out] = result.output_end;
  EXPECT_TRUE(text.ends_with("xthe end"));
  EXPECT_GE(text.size(), OutputEnd::kBytes);
  EXPECT_LE(text.size(), 2 * OutputEnd::kBytes);
  EXPECT_EQ(text.size() + left_out, 300'007u);
}

TEST_P(RunningProcesses, ErrorsOneByteLongerAreCut) {
  auto wanted = perl("print STDERR 'y' x 1001");
  wanted.max_output = 1000;
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.errors, std::string(1000, 'y'));
  EXPECT_TRUE(result.cut);
}

TEST_P(RunningProcesses, WhatIsCutOffDoesNotHoldTheProgramUp) {
  auto wanted = perl("for (1 .. 200) { print 'x' x 50_000; print STDERR 'y' x 50_000 } exit 3");
  wanted.max_output = 100;
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.output, std::string(100, 'x'));
  EXPECT_EQ(result.errors, std::string(100, 'y'));
}

TEST_P(RunningProcesses, LargeOutputArrivesWhole) {
  auto wanted = perl("for (1 .. 3000) { print 'x' x 999, \"\\n\" }");
  wanted.max_output = 4'000'000;
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output.size(), 3'000'000u);
  EXPECT_FALSE(result.cut);
}

TEST_P(RunningProcesses, AProgramThatIsNotThereIsNotFound) {
  const auto result = try_run(spec({"deputy-no-such-program"}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_THAT(result.error().message, HasSubstr("deputy-no-such-program"));
  EXPECT_EQ(try_run(spec({"/usr/bin"})).error().code, ErrorCode::not_found);
  EXPECT_EQ(try_run(spec({"/no/such/program"})).error().code, ErrorCode::not_found);
}

TEST_P(RunningProcesses, WhatCannotBeMeantIsInvalid) {
  EXPECT_EQ(try_run(spec({})).error().code, ErrorCode::invalid);
  EXPECT_EQ(try_run(spec({""})).error().code, ErrorCode::invalid);
  EXPECT_EQ(try_run(spec({"./file"})).error().code, ErrorCode::invalid);
  EXPECT_EQ(try_run(spec({"echo", std::string("a\0b", 3)})).error().code, ErrorCode::invalid);
  auto wanted = spec({"true"});
  wanted.environment = {{"A=B", "c"}};
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::invalid);
  EXPECT_EQ(try_run(spec({"echo", std::string(3'000'000, 'x')})).error().code, ErrorCode::invalid);
}

TEST_P(RunningProcesses, AFolderThatIsNotOnTheDiskIsRefused) {
  const ManualClock clock;
  const MemoryDisk disk(clock);
  const auto folder = disk.open("/work", IfAbsent::create);
  ASSERT_TRUE(folder.has_value());
  auto wanted = spec({"true"});
  wanted.folder = folder->get();
  EXPECT_EQ(try_run(std::move(wanted)).error().code, ErrorCode::invalid);
}

TEST_P(RunningProcesses, WithoutDeputyInitItSaysWhereThatWasExpected) {
  SystemProcesses lost(loop_, "/nowhere/deputy-init");
  const auto result = run(loop_, lost.run(spec({"true"}), {}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::unavailable);
  EXPECT_THAT(result.error().message, HasSubstr("/nowhere/deputy-init"));
  EXPECT_THAT(result.error().advice, HasSubstr("reinstall"));
}

TEST_P(RunningProcesses, IsNotStartedWhenAlreadyStopped) {
  const StopSource source;
  source.request(StopReason::user);
  EXPECT_EQ(try_run(spec({"true"}), source.token()).error(), Error::cancelled());
}

TEST_P(RunningProcesses, NothingIsLeftOfWhatItStartedWhenItHasEnded) {
  const auto mark = new_mark();
  // Daemons, in their own session, orphaned, deaf to SIGTERM, one stopped; they hold the output open.
  const auto result = run_it(perl(R"(
      $SIG{TERM} = 'IGNORE';
      pipe(my $ready, my $go);
      for my $kind (1 .. 4) {
        next if fork;
        POSIX::setsid();
        exit if fork;
        syswrite $go, 'x';
        kill 'STOP', $$ if $kind == 4;
        sleep 1000 while 1;
      }
      sysread($ready, my $byte, 1) for 1 .. 4;
      print 'done'; exit 5)",
                                  {mark}));
  EXPECT_EQ(count_marked(mark), 0);
  EXPECT_EQ(result.output, "done");
  EXPECT_EQ(result.exit_status, 5);
}

Task<> echo(SystemProcesses& processes, ProcessSpec wanted, std::string* output) {
  auto result = co_await processes.run(std::move(wanted), {});
  *output = result ? result->output : to_text(result.error());
}

Task<> echo_all(SystemLoop& loop, SystemProcesses& processes, std::vector<ProcessSpec> specs,
                std::vector<std::string>* outputs) {
  TaskGroup group(loop);
  outputs->resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i)
    group.spawn(echo(processes, std::move(specs[i]), &(*outputs)[i]));
  co_await group.join();
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

TEST_P(RunningProcesses, ManyMayRunAtOnceAndLeaveNoDescriptorOpen) {
  run_it(spec({"true"}));
  const auto before = open_descriptors();
  std::vector<ProcessSpec> specs;
  for (int i = 0; i < 30; ++i) specs.push_back(spec({"echo", std::to_string(i)}));
  std::vector<std::string> outputs;
  run(loop_, echo_all(loop_, processes_, std::move(specs), &outputs));
  for (int i = 0; i < 30; ++i) EXPECT_EQ(outputs[static_cast<std::size_t>(i)], std::to_string(i) + "\n");
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(RunningProcesses, PassesOutputOnAsItComesAndBeforeItIsBounded) {
  auto wanted = perl("print 'x' x 3000; print STDERR 'y' x 2000");
  wanted.max_output = 1000;
  std::string seen;
  wanted.on_output = [&](std::string_view part) { seen += part; };
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(std::ranges::count(seen, 'x'), 3000);
  EXPECT_EQ(std::ranges::count(seen, 'y'), 2000);
  EXPECT_EQ(result.output.size(), 1000u);
}

}  // namespace
}  // namespace deputy
