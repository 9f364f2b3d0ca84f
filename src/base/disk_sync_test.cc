// A file that is replaced is on the disk before its name is, and the name before anybody is told. The program
// has one fsync; this is it, with a look at what it is asked for.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/text.h"
#include "support/temp_folder.h"

namespace {

std::vector<std::string>* synced = nullptr;
int refused_with = 0;

}  // namespace

extern "C" int fsync(int descriptor) {
  if (synced) {
    struct stat found{};
    ::fstat(descriptor, &found);
    synced->push_back(S_ISDIR(found.st_mode) ? "folder" : "file of " + std::to_string(found.st_size));
  }
  if (refused_with == 0) return static_cast<int>(::syscall(SYS_fsync, descriptor));
  errno = refused_with;
  return -1;
}

namespace deputy {
namespace {

class DiskSyncTest : public testing::Test {
 protected:
  DiskSyncTest() { synced = &synced_; }
  ~DiskSyncTest() override {
    synced = nullptr;
    refused_with = 0;
  }
  TempFolder temp_;
  std::unique_ptr<Folder> folder_ = SystemDisk().open(temp_.path(), IfAbsent::fail).value();
  std::vector<std::string> synced_;
};

TEST_F(DiskSyncTest, AReplacedFileIsSyncedAndThenItsName) {
  ASSERT_TRUE(folder_->replace("a", "hello"));
  EXPECT_EQ(synced_, (std::vector<std::string>{"file of 5", "folder"}));
}

// The way of Write and Edit.
TEST_F(DiskSyncTest, AFileThatWasLookedUpIsSyncedAndThenItsNameAndBeforeThemThoseOfItsNewFolders) {
  ASSERT_TRUE((*folder_->look_up("one/two/a"))->replace("hello", ""));
  EXPECT_EQ(synced_, (std::vector<std::string>{"folder", "folder", "file of 5", "folder"}));
  synced_.clear();
  ASSERT_TRUE((*folder_->look_up("one/two/a"))->replace("hello again", sha256_hex("hello")));
  EXPECT_EQ(synced_, (std::vector<std::string>{"file of 11", "folder"}));
  refused_with = EIO;
  EXPECT_FALSE((*folder_->look_up("one/two/a"))->replace("lost", sha256_hex("hello again")));
  refused_with = 0;
  EXPECT_EQ(folder_->read("one/two/a", 0, 100).value(), "hello again");
  EXPECT_EQ(folder_->list("one/two")->size(), 1u) << "nothing is left beside it";
}

TEST_F(DiskSyncTest, WhatNeedNotBeDurableIsNotSynced) {
  ASSERT_TRUE(folder_->replace("a", "new", Durable::no));
  EXPECT_EQ(*folder_->read("a", 0, 10), "new");
  EXPECT_TRUE(synced_.empty());
}

TEST_F(DiskSyncTest, WhatIsAddedIsSyncedWithAllBeforeItWhereItIsToBeDurable) {
  ASSERT_TRUE(folder_->append_to("a", "hel"));
  EXPECT_TRUE(synced_.empty());
  ASSERT_TRUE(folder_->append_to("a", "lo", Durable::yes));
  EXPECT_EQ(synced_, (std::vector<std::string>{"file of 5", "folder"}));
  refused_with = EIO;
  EXPECT_FALSE(folder_->append_to("a", "!", Durable::yes));
}

TEST_F(DiskSyncTest, TheNamesOfAllThatIsMadeOnTheWayAreSynced) {
  ASSERT_TRUE(SystemDisk().open(temp_.path() + "/one/two", IfAbsent::create));
  EXPECT_EQ(synced_, (std::vector<std::string>{"folder", "folder"}));
  synced_.clear();
  ASSERT_TRUE(SystemDisk().open(temp_.path() + "/one/two", IfAbsent::create));
  EXPECT_TRUE(synced_.empty());
}

TEST_F(DiskSyncTest, TheNameOfANewFolderIsSynced) {
  ASSERT_TRUE(folder_->make_folder("a/b"));
  EXPECT_EQ(synced_, (std::vector<std::string>{"folder", "folder"}));
  ASSERT_TRUE(folder_->make_folder("a/b"));
  EXPECT_EQ(synced_.size(), 2u) << "it was there";
}

TEST_F(DiskSyncTest, ARenamedFolderHasItsNewNameForGood) {
  ASSERT_TRUE(folder_->make_folder("a"));
  ASSERT_TRUE(folder_->make_folder("to"));
  synced_.clear();
  ASSERT_TRUE(folder_->rename("a", "to/b"));
  EXPECT_EQ(synced_, (std::vector<std::string>{"folder"}));
  refused_with = EIO;
  EXPECT_FALSE(folder_->rename("to/b", "c")) << "it is not for good";
}

TEST_F(DiskSyncTest, WhatCannotBeSyncedReplacesNothing) {
  ASSERT_TRUE(folder_->replace("a", "before"));
  refused_with = EIO;
  EXPECT_FALSE(folder_->replace("a", "after"));
  refused_with = 0;
  EXPECT_EQ(folder_->read("a", 0, 100).value(), "before");
}

}  // namespace
}  // namespace deputy
