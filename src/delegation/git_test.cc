#include "delegation/git.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "support/run.h"

namespace deputy {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class GitTest : public testing::Test {
 protected:
  GitTest() {
    processes.define("git", [this](const ProcessSpec& spec) {
      started.push_back(spec.folder_access);
      for (const Root& root : spec.roots) to_store.push_back(root.access);
      return ProcessResult{};
    });
  }
  SimLoop loop{1};
  MemoryDisk disk{loop.clock()};
  std::unique_ptr<Folder> work_tree = disk.open("/work", IfAbsent::create).value();
  SimProcesses processes{loop};
  std::vector<Access> started;  // what each git may do in the work tree
  std::vector<Access> to_store;
  Git git{processes, *work_tree, "/work/.git", "/work/.git"};
};

TEST_F(GitTest, WhatOnlyLooksCanWriteNowhere) {
  ASSERT_TRUE(run(loop, git.look({"status"}, {})));
  EXPECT_THAT(started, ElementsAre(Access::read, Access::read));  // the first asks for the filters
  EXPECT_THAT(to_store, Each(Access::read));
}

TEST_F(GitTest, WhatChangesTheRepositoryMayWriteButNotWhatAsksForTheFilters) {
  ASSERT_TRUE(run(loop, git.run({"add", "."}, {})));
  EXPECT_THAT(started, ElementsAre(Access::read, Access::write));
  EXPECT_THAT(to_store, ElementsAre(Access::read, Access::write));
}

TEST(FiltersSwitchedOff, EachDriverOnceWhateverItsName) {
  EXPECT_THAT(filters_switched_off("core.bare\nfilter.a.b.clean\nfilter.a.b.smudge\n"),
              ElementsAre(Pair("filter.a.b.smudge", ""), Pair("filter.a.b.clean", ""),
                          Pair("filter.a.b.process", ""), Pair("filter.a.b.required", "false")));
  EXPECT_THAT(filters_switched_off("filter..clean"),
              ElementsAre(Pair("filter..smudge", ""), Pair("filter..clean", ""), Pair("filter..process", ""),
                          Pair("filter..required", "false")));
  EXPECT_THAT(filters_switched_off("filter.clean\nmyfilter.a.clean\n\n"), IsEmpty()) << "no driver has these";
}

}  // namespace
}  // namespace deputy
