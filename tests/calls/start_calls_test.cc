// Whichever call of the system fails while a process is started: it is said, with what to do about it, and
// neither a descriptor nor a child is left.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "failing_call.h"
#include "sandbox/free_place.h"
#include "sandbox/launch.h"
#include "sandbox/processes_fixture.h"
#include "support/held.h"

namespace deputy {
namespace {

using calls::FailingCall;
using testing::HasSubstr;
using testing::IsSupersetOf;

// The most descriptors that this process may have, as long as it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{most, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

class StartOfAProcess : public ProcessesFixture, public testing::WithParamInterface<SandboxLevel> {
 protected:
  void SetUp() override {
    level_ = GetParam();
    if (!has_level(level_)) GTEST_SKIP() << "this machine does not have the level";
    EXPECT_EQ(run_it(spec({"true"})).exit_status, 0);  // what is opened once is open from here on
    held_ = Held::now().descriptors;
  }

  // Which has much to be kept back.
  Result<Spawned> start() {
    ProcessSpec wanted = spec({"true"});
    wanted.folder_access = Access::write;
    wanted.hidden = {root_ + "/inside/file"};
    const SandboxSettings settings{.init_path = bin_dir() + "/deputy-init",
                                   .hidden = {root_ + "/inside/.git"}};
    return spawn_confined(
        {.spec = wanted, .settings = settings, .level = level_, .command = {"--", program_}});
  }

  void expect_nothing_left() const {
    EXPECT_EQ(Held::now().descriptors, held_);
    errno = 0;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
  }

  static void expect_told(const Error& error) {
    EXPECT_FALSE(error.message.empty());
    EXPECT_FALSE(error.advice.empty()) << error.message;
  }

  std::string program_ = find_program("true").value();
  std::ptrdiff_t held_ = 0;
};
INSTANTIATE_TEST_SUITE_P(AtEachLevel, StartOfAProcess,
                         testing::Values(SandboxLevel::restricted, SandboxLevel::isolated),
                         [](const auto& tried) {
                           return "L" + std::to_string(static_cast<int>(tried.param));
                         });

TEST_P(StartOfAProcess, WhicheverCallFailsLeavesNothing) {
  std::filesystem::create_directory(root_ + "/inside/.git");
  // Without these settings of the system a program runs all the same.
  const std::set<std::string> may_do_without{"open", "fstat", "readlink"};
  std::set<std::string> names;
  for (int at = 1;; ++at) {
    std::string refused;
    {
      const FailingCall failing(at, EAGAIN);
      auto started = start();
      refused = failing.refused();
      SCOPED_TRACE(std::to_string(at) + " " + refused);
      if (started) {
        EXPECT_TRUE(refused.empty() ||
                    (level_ >= SandboxLevel::isolated && may_do_without.contains(refused)));
        started->lifeline.reset();
        EXPECT_EQ(::waitpid(started->pid, nullptr, 0), started->pid);
      } else {
        expect_told(started.error());
      }
    }
    expect_nothing_left();
    if (refused.empty()) break;
    names.insert(refused);
  }
  EXPECT_THAT(names, IsSupersetOf({"openat", "readlink", "open", "pipe2", "socketpair", "memfd_create",
                                   "write", "fcntl", "posix_spawn", "pidfd_open"}));
  if (level_ >= SandboxLevel::isolated) EXPECT_THAT(names, IsSupersetOf({"fstatat", "openat2", "fstat"}));
}

// Without the rest of it a program would run in another environment than it was given.
TEST_P(StartOfAProcess, AnEnvironmentOfWhichHalfIsTakenStartsNothing) {
  const auto started = [&] {
    const FailingCall failing(1, ENOMEM, calls::Refused::after_half);
    return start();
  }();
  ASSERT_FALSE(started);
  expect_told(started.error());
  EXPECT_THAT(started.error().message, HasSubstr(std::strerror(ENOMEM)));
  expect_nothing_left();
}

TEST_P(StartOfAProcess, HoweverFewDescriptorsThereAreItSaysSoOrRuns) {
  int refused = 0;
  for (auto most = static_cast<rlim_t>(held_);; ++most) {
    ASSERT_LT(most, 1024u) << "it never runs";
    SCOPED_TRACE(most);
    auto result = [&] {
      const DescriptorLimit limit(most);
      return try_run(spec({"true"}));
    }();
    expect_nothing_left();
    if (result) {
      EXPECT_EQ(result->exit_status, 0) << result->errors;
      break;
    }
    expect_told(result.error());
    ++refused;
  }
  EXPECT_GT(refused, 20) << "hardly one was missing";
}

// A command for which the place of a repository is not held could make one there.
TEST_P(StartOfAProcess, APlaceThatCannotBeHeldIsNotPassedOver) {
  std::set<std::string> names;
  for (int at = 1;; ++at) {
    const FailingCall failing(at, EMFILE);
    const auto held = FreePlace::hold(folder_->descriptor(), ".git");
    if (failing.refused().empty()) {
      ASSERT_TRUE(held);
      EXPECT_TRUE(*held);
      break;
    }
    names.insert(failing.refused());
    if (failing.refused() != "openat") continue;
    ASSERT_FALSE(held) << at;
    expect_told(held.error());
  }
  EXPECT_TRUE(names.contains("openat"));
}

}  // namespace
}  // namespace deputy
