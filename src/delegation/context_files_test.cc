#include "delegation/context_files.h"

#include <gtest/gtest.h>

#include "tools/tool_bench.h"

namespace deputy {
namespace {

class ContextFiles : public testing::Test {
 protected:
  ManualClock clock_;
  MemoryDisk disk_{clock_};
  std::unique_ptr<Folder> folder_ = *disk_.open("/work", IfAbsent::create);
  Sight sight_ = *Sight::of(Session{});
};

TEST_F(ContextFiles, StandUnderTheirPathBeforeThePrompt) {
  ASSERT_TRUE(folder_->replace("a", "one\n"));
  ASSERT_TRUE(folder_->replace("b", "two"));
  const std::vector<std::string> paths{"a", "b"};
  EXPECT_EQ(*with_context_files("prompt", paths, *folder_, sight_),
            "=== a ===\none\n\n=== b ===\ntwo\n\nprompt");
}

TEST_F(ContextFiles, AFileMayHaveItsBoundAndNotAByteMore) {
  const std::vector<std::string> paths{"a"};
  ASSERT_TRUE(folder_->replace("a", std::string(100, 'x')));
  EXPECT_TRUE(with_context_files("p", paths, *folder_, sight_, {.file_bytes = 100}));
  ASSERT_TRUE(folder_->replace("a", std::string(101, 'x')));
  const auto refused = with_context_files("p", paths, *folder_, sight_, {.file_bytes = 100});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.contains("'a' is larger than 100 bytes"));
}

TEST_F(ContextFiles, AllTogetherAreBoundedToo) {
  ASSERT_TRUE(folder_->replace("a", std::string(60, 'x')));
  const std::vector<std::string> paths{"a", "a"};
  EXPECT_TRUE(with_context_files("p", paths, *folder_, sight_, {.file_bytes = 100, .task_bytes = 200}));
  EXPECT_FALSE(with_context_files("p", paths, *folder_, sight_, {.file_bytes = 100, .task_bytes = 100}));
}

TEST_F(ContextFiles, MissingForeignAndBinaryFilesAreNamed) {
  ASSERT_TRUE(folder_->replace("bin", std::string("a\0b", 3)));
  const auto outside = *disk_.open("/etc", IfAbsent::create);
  ASSERT_TRUE(outside->replace("passwd", "canary"));
  for (const std::string path : {"none", "../etc/passwd", "/etc/passwd", "bin"}) {
    const std::vector<std::string> paths{path};
    const auto refused = with_context_files("p", paths, *folder_, sight_);
    ASSERT_FALSE(refused) << path;
    EXPECT_TRUE(refused.error().message.contains("'" + path + "'")) << refused.error().message;
    EXPECT_FALSE(refused.error().advice.empty());
  }
  const std::vector<std::string> control{"passwd"};
  EXPECT_TRUE(with_context_files("p", control, *outside, sight_)) << "from its own folder";
}

TEST(ContextFilesElsewhere, AreReachedWhereReadReachesThem) {
  ToolBench bench;
  const auto root = *bench.disk.open("/extra", IfAbsent::create);
  ASSERT_TRUE(root->replace("a", "one\n"));
  ToolContext context = bench.context();
  const std::vector<std::string> paths{"/extra/a"};
  EXPECT_FALSE(with_context_files("p", paths, *bench.workspace, *Sight::of(context), {}, context.roots));
  context.roots = {root.get()};
  const auto found = with_context_files("p", paths, *bench.workspace, *Sight::of(context), {}, context.roots);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, "=== /extra/a ===\none\n\np");
}

TEST_F(ContextFiles, WhatTheRulesKeepFromReadIsKeptFromContext) {
  ASSERT_TRUE(folder_->make_folder("secrets"));
  ASSERT_TRUE(folder_->replace("secrets/key", "canary"));
  Session session;
  session.permissions = Rules({{Decision::deny, "Read", "secrets/**"}}).to_json();
  const Sight sight = *Sight::of(session);
  for (const std::string path : {"secrets/key", "./secrets//key", "x/../secrets/key", "/work/secrets/key"}) {
    const std::vector<std::string> paths{path};
    const auto refused = with_context_files("p", paths, *folder_, sight);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::denied) << path;
  }
}

TEST_F(ContextFiles, ALinkDoesNotLendItsName) {
  ASSERT_TRUE(folder_->make_folder("secrets"));
  ASSERT_TRUE(folder_->replace("secrets/key", "canary"));
  disk_.plant_link("/work/readme", "secrets/key");
  disk_.plant_link("/work/out", "/etc/passwd");
  Session session;
  session.permissions = Rules({{Decision::deny, "Read", "secrets/**"}}).to_json();
  for (const std::string path : {"readme", "out"}) {
    const std::vector<std::string> paths{path};
    EXPECT_FALSE(with_context_files("p", paths, *folder_, *Sight::of(session))) << path;
  }
  const std::vector<std::string> paths{"readme"};
  EXPECT_TRUE(with_context_files("p", paths, *folder_, sight_)) << "control: without the rule";
}

}  // namespace
}  // namespace deputy
