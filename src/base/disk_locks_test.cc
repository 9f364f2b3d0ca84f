#include "base/disk_locks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace deputy {
namespace {

class DiskLocksTest : public testing::Test {
 protected:
  DiskLocks open() { return *DiskLocks::open(*folder_, "locks"); }

  TempFolder home_;
  std::unique_ptr<Folder> folder_ = *SystemDisk().open(home_.path(), IfAbsent::fail);
};

TEST_F(DiskLocksTest, APlaceHasOneHolderAndPlacesDoNotTouch) {
  auto first = open();
  auto second = open();
  EXPECT_EQ(first.take(7), true);
  EXPECT_EQ(first.take(7), true) << "it is ours already";
  EXPECT_EQ(second.take(7), false);
  EXPECT_EQ(second.take(8), true);
  EXPECT_TRUE(second.is_taken_by_another(7));
  EXPECT_FALSE(first.is_taken_by_another(7));
  EXPECT_EQ(first.take(~std::uint64_t{0}), true) << "any number is a place";
}

TEST_F(DiskLocksTest, WhatIsReleasedOrClosedIsFree) {
  auto second = open();
  {
    auto first = open();
    ASSERT_EQ(first.take(7), true);
    ASSERT_EQ(first.take(8), true);
    first.release(7);
    EXPECT_EQ(second.take(7), true);
    EXPECT_EQ(second.take(8), false);
  }
  EXPECT_EQ(second.take(8), true);
}

TEST_F(DiskLocksTest, TheKernelLetsGoOfWhatAKilledProcessHeld) {
  auto ours = open();
  int held[2];
  ASSERT_EQ(::pipe(held), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto theirs = DiskLocks::open(*folder_, "locks");
    const char byte = theirs && theirs->take(7) == true ? 'y' : 'n';
    (void)!::write(held[1], &byte, 1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(held[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(ours.take(7), false);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(ours.take(7), true);
}

}  // namespace
}  // namespace deputy
