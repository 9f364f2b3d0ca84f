#include <gtest/gtest.h>

#include "base/disk.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

TEST(MemoryDisk, ShowsAllItsFiles) {
  const ManualClock clock;
  const MemoryDisk disk(clock);
  const auto folder = disk.open("/work/a", IfAbsent::create).value();
  ASSERT_TRUE(folder->replace("x", "1"));
  ASSERT_TRUE(folder->make_folder("empty"));
  ASSERT_TRUE(disk.open("/", IfAbsent::fail).value()->append_to("y", "2"));
  EXPECT_EQ(disk.files(), (std::map<std::string, std::string>{{"/work/a/x", "1"}, {"/y", "2"}}));
  EXPECT_EQ(folder->descriptor(), -1);
}

TEST(MemoryDisk, FoldersOutliveTheDiskAndShareItsFiles) {
  const ManualClock clock;
  auto disk = std::make_unique<MemoryDisk>(clock);
  const auto first = disk->open("/work", IfAbsent::fail).value();
  const auto second = disk->open("/work", IfAbsent::fail).value();
  disk.reset();
  ASSERT_TRUE(first->replace("x", "1"));
  EXPECT_EQ(second->read("x", 0, 10), "1");
}

TEST(MemoryDisk, TakesTimesFromItsClock) {
  ManualClock clock;
  const MemoryDisk disk(clock);
  const auto folder = disk.open("/work", IfAbsent::fail).value();
  clock.advance(5s);
  ASSERT_TRUE(folder->replace("x", "1"));
  EXPECT_EQ(folder->status("x")->modified, clock.wall());
  clock.advance(5s);
  EXPECT_EQ(folder->status("x")->modified, clock.wall() - 5s);
  ASSERT_TRUE(folder->append_to("x", "2"));
  EXPECT_EQ(folder->status("x")->modified, clock.wall());
}

TEST(MemoryDisk, AsksBeforeEachChangeAndFailsAsTold) {
  const ManualClock clock;
  MemoryDisk disk(clock);
  const auto folder = disk.open("/work", IfAbsent::fail).value();
  ASSERT_TRUE(folder->replace("old", "1"));
  std::vector<std::string> asked;
  disk.set_fault([&](std::string_view path) -> Result<void> {
    asked.emplace_back(path);
    EXPECT_EQ(disk.files().size(), 1U);  // the hook may look
    return fail(ErrorCode::exhausted, "full");
  });
  EXPECT_EQ(folder->replace("a", "x").error().message, "full");
  EXPECT_FALSE(folder->append_to("b", "x"));
  EXPECT_FALSE(folder->make_folder("c"));
  EXPECT_FALSE(folder->rename("old", "d"));
  EXPECT_FALSE(folder->remove("old"));
  EXPECT_FALSE(disk.open("/new", IfAbsent::create));
  EXPECT_EQ(folder->read("old", 0, 10), "1");
  EXPECT_EQ(asked,
            (std::vector<std::string>{"/work/a", "/work/b", "/work/c", "/work/d", "/work/old", "/new"}));
  disk.set_fault(nullptr);
  EXPECT_TRUE(folder->replace("a", "x"));
  EXPECT_EQ(disk.files(), (std::map<std::string, std::string>{{"/work/a", "x"}, {"/work/old", "1"}}));
}

TEST(MemoryDisk, AFaultlessAppendAfterAFailedOneKeepsWhatWasThere) {
  const ManualClock clock;
  MemoryDisk disk(clock);
  const auto folder = disk.open("/work", IfAbsent::fail).value();
  ASSERT_TRUE(folder->append_to("log", "1"));
  disk.set_fault([](std::string_view) { return Result<void>(fail(ErrorCode::io, "broken")); });
  EXPECT_FALSE(folder->append_to("log", "2"));
  disk.set_fault({});
  ASSERT_TRUE(folder->append_to("log", "3"));
  EXPECT_EQ(folder->read("log", 0, 10), "13");
}

}  // namespace
}  // namespace deputy
