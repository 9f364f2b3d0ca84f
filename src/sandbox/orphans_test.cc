// Trees that do everything not to be ended: they leave their parents, sessions and process groups, ignore
// signals, are stopped, have no environment. After a stop, a time limit or the death of deputy itself nothing
// of them is left. The quick part tries a few; the real-time part 200 of each, twenty at a time, and none may
// live two seconds later.
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>

#include "async/task_group.h"
#include "sandbox/processes_fixture.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Trials {
  int batches;
  int at_once;
  milliseconds within;  // none may be alive after
};

Task<> run_and_time(SystemLoop& loop, SystemProcesses& processes, ProcessSpec wanted, StopToken stop,
                    Duration* took) {
  const auto start = loop.clock().now();
  const auto result = co_await processes.run(std::move(wanted), stop);
  EXPECT_TRUE(result || result.error().code == ErrorCode::cancelled) << to_text(result.error());
  *took = loop.clock().now() - start;
}

class Orphans : public ProcessesFixture, public testing::WithParamInterface<SandboxLevel> {
 protected:
  void SetUp() override {
    level_ = GetParam();
    if (!has_level(level_)) GTEST_SKIP() << "this machine does not have the level";
  }
  void TearDown() override {
    for (const auto& mark : marks_) {
      for (const pid_t pid : find_processes({mark})) ::kill(pid, SIGKILL);
    }
    if (!slowest_.empty()) std::printf("%s", slowest_.c_str());
  }

  std::string mark() {
    marks_.push_back(new_mark());
    return marks_.back();
  }
  ProcessSpec hostile(const std::string& mark) {
    return perl(R"(
        $SIG{TERM} = $SIG{HUP} = $SIG{INT} = 'IGNORE';
        my @again = ('perl', '-e', 'sleep 1000 while 1', @ARGV);
        for my $kind (1 .. 5) {
          next if fork;
          POSIX::setsid();
          exit if fork;
          exec('env', '-i', '/usr/bin/perl', @again[1 .. $#again]) if $kind == 2;
          exec('nohup', @again) if $kind == 3;
          kill 'STOP', $$ if $kind == 4;
          if ($kind == 5) { while (1) { my $p = fork; exit if $p; select(undef, undef, undef, 0.05) } }
          sleep 1000 while 1;
        }
        wait for 1 .. 5;
        sleep 1000 while 1)",
                {mark});
  }
  // The program, four of its five daemons (the fifth changes all the time), deputy-init, and bwrap.
  int tree_size() const { return level_ >= SandboxLevel::isolated ? 7 : 6; }

  void note(const char* what, Duration slowest) {
    slowest_ += "L" + std::to_string(static_cast<int>(level_)) + " " + what + ": the slowest took " +
                std::to_string(std::chrono::duration_cast<milliseconds>(slowest).count()) + " ms\n";
  }

  void after_a_stop(Trials trials) {
    Duration slowest{};
    for (int batch = 0; batch < trials.batches; ++batch) {
      const auto word = mark();
      std::vector<Duration> took(static_cast<std::size_t>(trials.at_once));
      TaskGroup group(loop_);
      for (auto& time : took)
        group.spawn(run_and_time(loop_, processes_, hostile(word), group.token(), &time));
      EXPECT_TRUE(run(loop_, until_marked(loop_, word, trials.at_once * tree_size())));
      const auto start = loop_.clock().now();
      run(loop_, group.stop(StopReason::user));
      slowest = std::max(slowest, loop_.clock().now() - start);
      ASSERT_EQ(count_marked(word), 0);
      ASSERT_LT(slowest, trials.within);
    }
    note("stop", slowest);
  }

  void after_a_time_limit(Trials trials) {
    Duration slowest{};
    for (int batch = 0; batch < trials.batches; ++batch) {
      const auto word = mark();
      std::vector<Duration> took(static_cast<std::size_t>(trials.at_once));
      auto wanted = hostile(word);
      wanted.time_limit = seconds(1);
      TaskGroup group(loop_);
      for (auto& time : took) group.spawn(run_and_time(loop_, processes_, wanted, {}, &time));
      run(loop_, group.join());
      slowest = std::max(slowest, *std::ranges::max_element(took) - Duration(seconds(1)));
      ASSERT_EQ(count_marked(word), 0);
      ASSERT_LT(slowest, trials.within);
    }
    note("time limit", slowest);
  }

  // Another process plays deputy.
  pid_t start_deputy(const std::string& word, int at_once) {
    const pid_t deputy = ::fork();
    if (deputy != 0) return deputy;
    SystemLoop loop;
    SystemProcesses processes(loop, bin_dir() + "/deputy-init");
    TaskGroup group(loop);
    std::vector<Duration> took(static_cast<std::size_t>(at_once));
    for (auto& time : took) group.spawn(run_and_time(loop, processes, hostile(word), {}, &time));
    run(loop, group.join());
    ::_exit(1);
  }

  void after_the_death_of_deputy(Trials trials) {
    Duration slowest{};
    for (int batch = 0; batch < trials.batches; ++batch) {
      const auto word = mark();
      const pid_t deputy = start_deputy(word, trials.at_once);
      EXPECT_TRUE(run(loop_, until_marked(loop_, word, trials.at_once * tree_size())));
      const auto start = loop_.clock().now();
      ::kill(deputy, SIGKILL);
      ::waitpid(deputy, nullptr, 0);
      ASSERT_TRUE(run(loop_, until_marked(loop_, word, 0)));
      slowest = std::max(slowest, loop_.clock().now() - start);
      ASSERT_LT(slowest, trials.within);
    }
    note("kill -9 of deputy", slowest);
  }

  std::vector<std::string> marks_;
  std::string slowest_;
};

const auto kLevels = testing::Values(SandboxLevel::restricted, SandboxLevel::isolated, SandboxLevel::metered);
const auto kLevelName = [](const auto& tried) { return "L" + std::to_string(static_cast<int>(tried.param)); };

INSTANTIATE_TEST_SUITE_P(AtEachLevel, Orphans, kLevels, kLevelName);

constexpr Trials kFew{1, 3, seconds(30)};

TEST_P(Orphans, NoneAfterAStop) { after_a_stop(kFew); }
TEST_P(Orphans, NoneAfterATimeLimit) { after_a_time_limit(kFew); }
TEST_P(Orphans, NoneAfterTheDeathOfDeputy) { after_the_death_of_deputy(kFew); }

// From `isolated` on: whoever kills deputy-init takes the tree with it.
TEST_P(Orphans, NoneAfterTheDeathOfInit) {
  if (level_ < SandboxLevel::isolated) GTEST_SKIP() << "not promised at this level";
  const auto word = mark();
  Duration took{};
  TaskGroup group(loop_);
  group.spawn(run_and_time(loop_, processes_, hostile(word), {}, &took));
  EXPECT_TRUE(run(loop_, until_marked(loop_, word, tree_size())));
  const auto bwrap = find_processes({word, "bwrap"});
  for (const pid_t pid : find_processes({word, "/.deputy-init"})) {
    if (std::ranges::find(bwrap, pid) == bwrap.end()) ::kill(pid, SIGKILL);
  }
  run(loop_, group.join());
  EXPECT_EQ(count_marked(word), 0);
}

class OrphansRealTime : public Orphans {};
INSTANTIATE_TEST_SUITE_P(AtEachLevel, OrphansRealTime, kLevels, kLevelName);

constexpr Trials kMany{10, 20, seconds(2)};

TEST_P(OrphansRealTime, NoneTwoSecondsAfterAStop) { after_a_stop(kMany); }
TEST_P(OrphansRealTime, NoneTwoSecondsAfterATimeLimit) { after_a_time_limit(kMany); }
TEST_P(OrphansRealTime, NoneTwoSecondsAfterTheDeathOfDeputy) { after_the_death_of_deputy(kMany); }

}  // namespace
}  // namespace deputy
