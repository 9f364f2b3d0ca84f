#include "sandbox/grants.h"

#include "sandbox/processes_fixture.h"

namespace deputy {
namespace {

TEST(Within, GoesByWholeNames) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a"));
  EXPECT_TRUE(is_within("/a", "/"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_FALSE(is_within("/a", "/a/b"));
}

class Grants : public ProcessesFixture {
 protected:
  std::vector<Access> accesses(Access folder, std::vector<Root> roots) {
    auto wanted = spec({"true"});
    wanted.folder_access = folder;
    wanted.roots = std::move(roots);
    const auto grants = open_grants(wanted);
    EXPECT_TRUE(grants.has_value());
    std::vector<Access> found;
    for (const auto& grant : *grants) found.push_back(grant.access);
    return found;
  }
};

TEST_F(Grants, ARootGivesWhatItSaysElsewhere) {
  std::filesystem::create_directory(root_ + "/inside-too");
  EXPECT_EQ(accesses(Access::read, {{root_ + "/inside-too", Access::write}}),
            (std::vector{Access::read, Access::write}));
}

TEST_F(Grants, ARootGivesNoMoreThanTheFolderWhereTheyOverlap) {
  std::filesystem::create_directory(root_ + "/inside/sub");
  std::filesystem::create_symlink("inside/sub", root_ + "/link");
  for (const std::string& path : {root_, root_ + "/inside", root_ + "/inside/sub", root_ + "/link"}) {
    EXPECT_EQ(accesses(Access::read, {{path, Access::write}}), (std::vector{Access::read, Access::read}))
        << path;
  }
  EXPECT_EQ(accesses(Access::write, {{root_ + "/inside/sub", Access::read}}),
            (std::vector{Access::write, Access::read}));
}

TEST_F(Grants, PathsAreThoseWithoutLinks) {
  std::filesystem::create_symlink("inside", root_ + "/link");
  auto wanted = spec({"true"});
  wanted.folder = nullptr;
  wanted.roots = {{root_ + "/link", Access::read}};
  const auto grants = open_grants(wanted);
  ASSERT_TRUE(grants.has_value());
  EXPECT_EQ(grants->at(0).path, std::filesystem::canonical(root_ + "/inside"));
}

}  // namespace
}  // namespace deputy
