#include "app/trust.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "app/turn.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

constexpr int kFoldersOfEach = 40;

std::string folder_of(int process, int number) { return fmt::format("/p{}/{}", process, number); }

class TrustTest : public testing::Test {
 protected:
  std::unique_ptr<Folder> home() const { return SystemDisk().open(temp_.path(), IfAbsent::fail).value(); }

  SimLoop loop_{1};

 private:
  TempFolder temp_;
};

TEST_F(TrustTest, IsGivenToAFolderAndTakenBack) {
  EXPECT_EQ(is_trusted(*home(), "/a"), false);
  EXPECT_TRUE(run(loop_, set_trust(loop_, home(), "/a", Trust::given)));
  EXPECT_EQ(is_trusted(*home(), "/a"), true);
  EXPECT_EQ(is_trusted(*home(), "/a/b"), false);
  EXPECT_TRUE(run(loop_, set_trust(loop_, home(), "/a", Trust::withdrawn)));
  EXPECT_EQ(is_trusted(*home(), "/a"), false);
}

TEST_F(TrustTest, WaitsForItsTurnAndNotForever) {
  auto other = FolderHold::alone(*home());
  ASSERT_TRUE(other);
  const TimePoint begun = loop_.clock().now();
  const auto refused = run(loop_, set_trust(loop_, home(), "/a", Trust::given));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_FALSE(refused.error().advice.empty());
  EXPECT_GE(loop_.clock().now() - begun, kLongestTurn);
  EXPECT_EQ(is_trusted(*home(), "/a"), false);

  loop_.timers().call_at(loop_.clock().now() + std::chrono::seconds(4), [&other] { other.reset(); });
  EXPECT_TRUE(run(loop_, set_trust(loop_, home(), "/a", Trust::given)));
  EXPECT_EQ(is_trusted(*home(), "/a"), true);
}

TEST_F(TrustTest, IsNotForgottenWhereTwoProcessesGiveItAtOnce) {
  std::array<pid_t, 2> processes{};
  for (int process = 0; process < 2; ++process) {
    processes[static_cast<std::size_t>(process)] = fork();
    if (processes[static_cast<std::size_t>(process)] != 0) continue;
    bool is_well = true;
    SystemLoop loop;
    for (int number = 0; number < kFoldersOfEach; ++number) {
      is_well =
          is_well && run(loop, set_trust(loop, home(), folder_of(process, number), Trust::given)).has_value();
    }
    _exit(is_well ? 0 : 1);
  }
  for (const pid_t process : processes) {
    int status = -1;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (int process = 0; process < 2; ++process) {
    for (int number = 0; number < kFoldersOfEach; ++number)
      EXPECT_EQ(is_trusted(*home(), folder_of(process, number)), true) << folder_of(process, number);
  }
}

}  // namespace
}  // namespace deputy
