// Opens that race with somebody who swaps a folder on their way for a link that leads outside. A Folder
// resolves in the kernel, so no swap is quick enough; the control looks first and opens after, and is fooled.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/disk.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE

class RacedOpens : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ + "/inside/folder");
    std::filesystem::create_directory(root_ + "/outside");
    std::filesystem::create_directory_symlink("../outside", root_ + "/inside/link");
    std::ofstream(root_ + "/inside/folder/file") << "i";
    std::ofstream(root_ + "/outside/file") << "o";
    folder_ = SystemDisk().open(root_ + "/inside", IfAbsent::fail).value();
    swap_for_ever();
  }
  void TearDown() override {
    if (swapper_ > 0) {
      ::kill(swapper_, SIGKILL);
      ::waitpid(swapper_, nullptr, 0);
    }
  }

  // Another process exchanges "folder" and "link", until it is killed or this one has ended.
  void swap_for_ever() {
    const std::string folder = root_ + "/inside/folder";
    const std::string link = root_ + "/inside/link";
    const pid_t self = ::getpid();
    swapper_ = ::fork();
    ASSERT_GE(swapper_, 0);
    if (swapper_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self) ::_exit(1);
    for (;;) ::syscall(SYS_renameat2, AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), kExchange);
  }

  struct Counts {
    int inside = 0;
    int outside = 0;
    int refused = 0;
  };

  Counts race_reads(int opens) const {
    Counts counts;
    for (int i = 0; i < opens; ++i) {
      const auto text = folder_->read("folder/file", 0, 1);
      ++(!text ? counts.refused : *text == "i" ? counts.inside : counts.outside);
    }
    return counts;
  }

  // The way of a check by string: where does it lead, is that beneath the folder, then open it.
  Counts race_checked_opens(int most) const {
    Counts counts;
    const std::string name = root_ + "/inside/folder/file";
    for (int i = 0; i < most && counts.outside == 0; ++i) {
      char resolved[PATH_MAX];
      if (!::realpath(name.c_str(), resolved) ||
          !std::string_view(resolved).starts_with(root_ + "/inside/")) {
        ++counts.refused;
        continue;
      }
      const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
      char byte = 0;
      const bool was_read = file >= 0 && ::read(file, &byte, 1) == 1;
      if (file >= 0) ::close(file);
      ++(!was_read ? counts.refused : byte == 'i' ? counts.inside : counts.outside);
    }
    return counts;
  }

  TempFolder temp_;
  const std::string& root_ = temp_.path();
  std::unique_ptr<Folder> folder_;
  pid_t swapper_ = -1;
};

TEST_F(RacedOpens, AreFooledWhenTheyLookFirst) {
  const auto counts = race_checked_opens(2'000'000);
  EXPECT_GT(counts.outside, 0) << "the race is not fast enough to prove anything";
}

TEST_F(RacedOpens, DoNotLeaveTheFolder) {
  const auto counts = race_reads(20'000);
  EXPECT_EQ(counts.outside, 0);
  EXPECT_GT(counts.inside, 0);
  EXPECT_GT(counts.refused, 0) << "nothing was swapped";
}

// Writing through the folder, and making what is not there yet.
TEST_F(RacedOpens, MakeNothingOutside) {
  int made = 0;
  for (int i = 0; i < 500; ++i) made += folder_->replace("folder/new", "x").has_value() ? 1 : 0;
  for (int i = 0; i < 5'000; ++i) {
    made += folder_->append_to("folder/added", "x").has_value() ? 1 : 0;
    made += folder_->make_folder("folder/deeper").has_value() ? 1 : 0;
  }
  EXPECT_GT(made, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_ + "/outside"), {}), 1);
}

class RacedOpensLong : public RacedOpens {};

TEST_F(RacedOpensLong, AMillionDoNotLeaveTheFolder) {
  const auto counts = race_reads(1'000'000);
  EXPECT_EQ(counts.outside, 0);
  EXPECT_GT(counts.inside, 1000);
  EXPECT_GT(counts.refused, 1000);
  std::printf("raced opens: %d inside, %d refused, %d outside\n", counts.inside, counts.refused,
              counts.outside);
}

}  // namespace
}  // namespace deputy
