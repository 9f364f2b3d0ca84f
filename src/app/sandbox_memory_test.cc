#include "app/sandbox_memory.h"

#include <gtest/gtest.h>

#include "async/sim_loop.h"

namespace deputy {
namespace {

class SandboxMemoryTest : public testing::Test {
 protected:
  SandboxMemoryTest() {
    files = disk.open("/", IfAbsent::create).value();
    for (const char* path : {"usr/bin", "proc/sys/kernel/random", "proc/self", "opt"})
      EXPECT_TRUE(files->make_folder(path));
    for (const auto& [path, text] :
         {std::pair("usr/bin/bwrap", "b"), std::pair("opt/deputy-init", "i"),
          std::pair("proc/sys/kernel/random/boot_id", "one"), std::pair("proc/self/cgroup", "0::/\n")})
      EXPECT_TRUE(files->replace(path, text));
    home = disk.open("/home", IfAbsent::create).value();
  }
  SandboxMemory memory() { return {disk, home, "/opt/deputy-init"}; }

  SimLoop loop{1};
  MemoryDisk disk{loop.clock()};
  std::shared_ptr<const Folder> files;
  std::shared_ptr<const Folder> home;
  const Capability isolating{.level = SandboxLevel::metered,
                             .landlock_abi = 7,
                             .seccomp = true,
                             .user_namespaces = true,
                             .why = "",
                             .fix = ""};
};

TEST_F(SandboxMemoryTest, RecallsWhatItKept) {
  EXPECT_FALSE(memory().recall());
  memory().keep(isolating);
  const auto known = memory().recall();
  ASSERT_TRUE(known);
  EXPECT_EQ(known->level, SandboxLevel::metered);
  EXPECT_EQ(known->landlock_abi, 7);
  EXPECT_TRUE(known->seccomp && known->user_namespaces);
}

TEST_F(SandboxMemoryTest, CountsOnlyUnderTheSameCircumstances) {
  for (const auto* path :
       {"proc/sys/kernel/random/boot_id", "proc/self/cgroup", "usr/bin/bwrap", "opt/deputy-init"}) {
    memory().keep(isolating);
    ASSERT_TRUE(memory().recall()) << path;
    ASSERT_TRUE(files->replace(path, "something longer than before"));
    EXPECT_FALSE(memory().recall()) << path;
  }
}

TEST_F(SandboxMemoryTest, KeepsOnlyWhatIsolates) {
  for (const auto level : {SandboxLevel::none, SandboxLevel::restricted}) {
    Capability less = isolating;
    less.level = level;
    memory().keep(less);
    EXPECT_FALSE(memory().recall());
    memory().keep(isolating);
    memory().keep(less);
    EXPECT_FALSE(memory().recall()) << "what was kept is wrong";
  }
}

TEST_F(SandboxMemoryTest, WhatIsNotItsOwnIsNotBelieved) {
  memory().keep(isolating);
  const auto kept = home->read("sandbox.json", 0, 4096).value();
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string(""),
                                  kept.substr(0, kept.size() / 2), "{\"level\":3}" + kept}) {
    ASSERT_TRUE(home->replace("sandbox.json", text));
    EXPECT_FALSE(memory().recall()) << text;
  }
  std::string high = kept;
  high.replace(high.find("\"level\":3"), 9, "\"level\":9");
  ASSERT_TRUE(home->replace("sandbox.json", high));
  EXPECT_FALSE(memory().recall());
}

TEST_F(SandboxMemoryTest, WithoutAStateFolderNothingIsRemembered) {
  const SandboxMemory none(disk, nullptr, "/opt/deputy-init");
  none.keep(isolating);
  EXPECT_FALSE(none.recall());
}

}  // namespace
}  // namespace deputy
