#include "sandbox/folder_hold.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace deputy {
namespace {

class FolderHoldTest : public testing::Test {
 protected:
  std::unique_ptr<Folder> open() const { return SystemDisk().open(temp.path(), IfAbsent::fail).value(); }
  bool is_held() const { return !FolderHold::alone(*open()); }
  TempFolder temp;
};

TEST_F(FolderHoldTest, IsSharedOrAloneAndGoesWithItsHolder) {
  EXPECT_FALSE(is_held());
  {
    const auto one = FolderHold::shared(*open());
    const auto two = FolderHold::shared(*open());
    EXPECT_TRUE(one && two);
    EXPECT_TRUE(is_held());
  }
  EXPECT_FALSE(is_held());
  const auto alone = FolderHold::alone(*open());
  EXPECT_TRUE(alone);
  EXPECT_TRUE(is_held());
}

TEST_F(FolderHoldTest, GoesWithAProcessThatIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = FolderHold::shared(*open());
    (void)!::write(ready[1], held ? "x" : "-", 1);
    for (;;) ::pause();
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'x');
  EXPECT_TRUE(is_held());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_held());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FolderHoldTest, WhoDoesNotWaitIsToldThatItIsHeld) {
  const auto folder = open();
  {
    const auto held = FolderHold::alone_at_once(*folder);
    ASSERT_TRUE(held && *held);
    const auto second = FolderHold::alone_at_once(*folder);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::busy);
  }
  const auto again = FolderHold::alone_at_once(*folder);
  EXPECT_TRUE(again && *again);
}

TEST_F(FolderHoldTest, AFolderInMemoryCannotBeHeld) {
  const ManualClock clock;
  const MemoryDisk disk(clock);
  const auto folder = disk.open("/work", IfAbsent::create).value();
  EXPECT_FALSE(FolderHold::shared(*folder));
  EXPECT_FALSE(FolderHold::alone(*folder));
  const auto at_once = FolderHold::alone_at_once(*folder);
  EXPECT_TRUE(at_once && !*at_once) << "nobody holds it";
}

}  // namespace
}  // namespace deputy
