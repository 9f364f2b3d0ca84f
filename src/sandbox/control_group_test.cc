#include "sandbox/control_group.h"

#include <signal.h>

#include "async/task_group.h"
#include "gmock/gmock.h"
#include "sandbox/processes_fixture.h"

namespace deputy {
namespace {

TEST(GroupPlaces, OfVersionTwo) {
  const auto places = find_group_places("0::/user.slice/user-1000.slice/session.scope\n",
                                        "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime "
                                        "shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/user.slice/user-1000.slice/session.scope");
  EXPECT_EQ(places.unified_top, "/sys/fs/cgroup");
  EXPECT_EQ(places.memory, std::nullopt);
}

TEST(GroupPlaces, OfVersionOneBesideAVersionTwoWithoutControllers) {
  const auto places = find_group_places("8:pids:/\n4:memory:/a/b\n2:cpu,cpuacct:/\n0::/\n",
                                        "1 1 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                                        "1 1 0:1 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
                                        "1 1 0:1 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(places.memory, "/sys/fs/cgroup/memory/a/b");
  EXPECT_EQ(places.pids, "/sys/fs/cgroup/pids");
}

TEST(GroupPlaces, InAContainerTheMountBeginsFurtherDown) {
  const auto places = find_group_places(
      "4:memory:/docker/abc/x\n", "1 1 0:1 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  EXPECT_EQ(places.memory, "/sys/fs/cgroup/memory/x");
}

TEST(GroupPlaces, WhatIsNotUnderstoodIsLeftOut) {
  for (const std::string text :
       {"", "\n", ":", "::", "0::", "0::..", "4:memory", "4:memory:relative", "0::/../x"}) {
    const auto places =
        find_group_places(text, "1 1 0:1 / /c rw - cgroup2 x rw\n1 1 0:1 / /m rw - cgroup x memory");
    EXPECT_EQ(places.unified, std::nullopt) << text;
    EXPECT_EQ(places.memory, std::nullopt) << text;
  }
  EXPECT_EQ(find_group_places("0::/", "- - - -\n1 2 3 / /x - cgroup2\n").unified, std::nullopt);
}

class ControlGroups : public ProcessesFixture {
 protected:
  void SetUp() override {
    level_ = SandboxLevel::metered;
    if (!has_level(level_)) GTEST_SKIP() << "no cgroup can be made here";
  }
  static std::vector<std::string> left_over() {
    std::ifstream own("/proc/self/cgroup");
    std::ifstream mounts("/proc/self/mountinfo");
    const auto places = find_group_places(std::string(std::istreambuf_iterator<char>(own), {}),
                                          std::string(std::istreambuf_iterator<char>(mounts), {}));
    std::vector<std::string> found;
    for (const auto& folder : {places.unified, places.memory, places.pids}) {
      if (!folder) continue;
      for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with("deputy-" + std::to_string(::getpid()) + "-")) found.push_back(entry.path());
      }
    }
    return found;
  }
};

TEST_F(ControlGroups, AreGoneWhenTheProcessHasEnded) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run_it(shell("(sleep 100 &) ; exit 3")).exit_status, 3);
  EXPECT_THAT(left_over(), testing::IsEmpty());
}

TEST_F(ControlGroups, TheNumberOfProcessesIsExact) {
  // The program itself is one of them.
  const std::string script =
      "my $n = 1; for (1 .. 40) { my $p = fork; last unless defined $p; if (!$p) { sleep 9; exit } ++$n } "
      "print $n";
  for (const std::uint64_t most : {10, 20}) {
    auto wanted = perl(script);
    wanted.limits.processes = most;
    EXPECT_EQ(run_it(std::move(wanted)).output, std::to_string(most));
  }
}

Task<> run_one(Processes& processes, ProcessSpec spec, std::function<void()> then,
               Result<ProcessResult>* into) {
  *into = co_await processes.run(std::move(spec), {});
  then();
}

class Siblings : public ProcessesFixture {};

TEST_F(Siblings, OneThatIsKilledForItsMemoryLeavesTheOtherUnharmed) {  // env-06
  level_ = SandboxLevel::metered;
  if (!has_level(level_)) GTEST_SKIP() << "this machine has no control groups for us";
  auto greedy = perl("my $x = 'x' x (300 << 20); print 'all'");
  greedy.limits.memory = 100 << 20;
  const auto patient = shell("until test -e done; do sleep 0.01; done; echo unharmed");
  Result<ProcessResult> killed = fail(ErrorCode::internal, "not run");
  Result<ProcessResult> other = killed;
  TaskGroup group(loop_);
  group.spawn(run_one(processes_, greedy, [this] { write_file("inside/done", ""); }, &killed));
  group.spawn(run_one(processes_, patient, [] {}, &other));
  run(loop_, group.join());
  ASSERT_TRUE(killed && other);
  EXPECT_EQ(killed->exit_status, 128 + SIGKILL);
  EXPECT_EQ(killed->output, "");
  EXPECT_EQ(other->output, "unharmed\n");
  EXPECT_EQ(other->exit_status, 0);
}

}  // namespace
}  // namespace deputy
