// What is kept back from an isolated process, each beside what it could do where nothing is.
#include <gmock/gmock.h>
#include <sys/file.h>

#include "sandbox/free_place.h"
#include "sandbox/processes_fixture.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class KeptBack : public ProcessesFixture {
 protected:
  void SetUp() override {
    level_ = SandboxLevel::isolated;
    if (!has_level(level_)) GTEST_SKIP() << "this machine cannot isolate processes";
    fs::create_directories(root_ + "/inside/conf/secrets");
    write_file("inside/conf/secrets/key", "CANARY\n");
    write_file("inside/conf/.env", "CANARY\n");
    write_file("inside/conf/open", "open\n");
    fs::create_directory_symlink("conf/secrets", root_ + "/inside/link");
  }
  std::string inside(const std::string& name) const { return root_ + "/inside/" + name; }
  // What the script says, of both streams.
  std::string said(const std::string& script, std::vector<std::string> hidden,
                   std::vector<std::string> fixed = {}) {
    auto wanted = shell(script);
    wanted.folder_access = Access::write;
    wanted.hidden = std::move(hidden);
    wanted.fixed = std::move(fixed);
    const auto result = run_it(wanted);
    return result.output + result.errors;
  }
};

TEST_F(KeptBack, WhatIsHiddenCannotBeOpenedByAnyName) {
  const std::vector<std::string> hidden{inside("conf/secrets"), inside("conf/.env")};
  for (const std::string script :
       {"cat conf/secrets/key", "cat link/key", "cat conf/.env", "cat conf/../conf/.env",
        "cat /proc/self/cwd/conf/.env", "grep -r CANARY .", "cp -r conf x; cat x/.env"}) {
    EXPECT_THAT(said(script, {}), HasSubstr("CANARY")) << "control: " << script;
    fs::remove_all(inside("x"));
    EXPECT_THAT(said(script, hidden), Not(HasSubstr("CANARY"))) << script;
    fs::remove_all(inside("x"));
  }
  EXPECT_THAT(said("cat conf/.env; ls conf/secrets", hidden), HasSubstr("Permission denied"));
  EXPECT_EQ(said("cat conf/open", hidden), "open\n") << "what lies beside it is as it was";
  EXPECT_EQ(read_file("inside/conf/.env"), "CANARY\n");
}

// Moved to another name it would not be hidden from the next.
TEST_F(KeptBack, WhatIsHiddenCannotBeMovedRemovedOrReplacedNorWhatItLiesIn) {
  const std::vector<std::string> hidden{inside("conf/secrets"), inside("conf/.env")};
  for (const std::string script : {"mv conf other", "mv conf/.env conf/x", "mv conf/secrets x",
                                   "rm -rf conf/.env", "rm -rf conf/secrets", "echo mine > conf/.env"}) {
    said(script, hidden);
    EXPECT_EQ(read_file("inside/conf/.env"), "CANARY\n") << script;
    EXPECT_EQ(read_file("inside/conf/secrets/key"), "CANARY\n") << script;
  }
  said("mv conf other", {});
  EXPECT_TRUE(fs::exists(inside("other/.env"))) << "control";
}

TEST_F(KeptBack, WhatIsFixedCanBeReadButNotChanged) {
  const std::vector<std::string> fixed{inside("conf/secrets"), inside("conf/.env")};
  EXPECT_THAT(said("cat conf/.env conf/secrets/key", {}, fixed), HasSubstr("CANARY\nCANARY\n"));
  for (const std::string script : {"echo x > conf/.env", "echo x > conf/secrets/new", "mv conf other",
                                   "rm conf/.env", "sed -i s/C/x/ conf/.env"}) {
    said(script, {}, fixed);
    EXPECT_EQ(read_file("inside/conf/.env"), "CANARY\n") << script;
    EXPECT_FALSE(fs::exists(inside("conf/secrets/new"))) << script;
  }
  said("echo x > conf/.env", {});
  EXPECT_EQ(read_file("inside/conf/.env"), "x\n") << "control";
}

TEST_F(KeptBack, WhatIsKeptBackInAFixedFolderMakesNothingOfItChangeable) {
  fs::create_directories(inside("conf/deep/er"));
  write_file("inside/conf/deep/er/x", "x\n");
  const std::string script =
      "echo changed > conf/open; echo changed > conf/deep/new; cat conf/open conf/.env";
  const auto said_with = [&](std::vector<std::string> hidden, std::vector<std::string> fixed) {
    return said(script, std::move(hidden), std::move(fixed));
  };
  EXPECT_THAT(said_with({inside("conf/.env"), inside("conf/deep/er")}, {inside("conf")}),
              Not(HasSubstr("CANARY")));
  said_with({}, {inside("conf"), inside("conf/deep/er/x")});
  EXPECT_EQ(read_file("inside/conf/open"), "open\n");
  EXPECT_FALSE(fs::exists(inside("conf/deep/new")));
  said_with({inside("conf/.env"), inside("conf/deep/er")}, {});
  EXPECT_EQ(read_file("inside/conf/open"), "changed\n") << "control";
}

TEST_F(KeptBack, WhatIsFixedInAHiddenFolderStaysHidden) {
  fs::create_directories(inside("conf/secrets/repo/.git"));
  write_file("inside/conf/secrets/repo/file", "CANARY\n");
  const std::string script = "cat conf/secrets/key conf/secrets/repo/file; echo x > conf/secrets/repo/file";
  const std::vector<std::string> fixed{inside("conf/secrets/key"), inside("conf/secrets/repo/.git")};
  EXPECT_THAT(said(script, {inside("conf/secrets")}, fixed), Not(HasSubstr("CANARY")));
  EXPECT_EQ(read_file("inside/conf/secrets/repo/file"), "CANARY\n");
  EXPECT_THAT(said(script, {}, fixed), HasSubstr("CANARY\nCANARY\n")) << "control";
}

TEST_F(KeptBack, WhatIsNotThereIsPassedOverAndAnotherFoldersPathToo) {
  EXPECT_EQ(said("echo fine", {inside("missing"), inside("conf/missing/deep"), "/etc/passwd"}), "fine\n");
}

TEST_F(KeptBack, ALinkInTheWayIsNotFollowed) {
  auto wanted = shell("true");
  wanted.hidden = {inside("link/key")};
  EXPECT_FALSE(try_run(wanted));
}

TEST_F(KeptBack, TakesAsManyAsItSaysAndNotOneMore) {
  std::vector<std::string> hidden;
  for (std::size_t i = 0; i < kMostKeptBack; ++i) {
    write_file("inside/many" + std::to_string(i), "CANARY\n");
    hidden.push_back(inside("many" + std::to_string(i)));
  }
  EXPECT_THAT(said("cat many0 many255; echo ran", hidden), Not(HasSubstr("CANARY")));
  auto wanted = shell("true");
  wanted.hidden = hidden;
  wanted.fixed = {inside("conf")};
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::invalid);
}

constexpr char kPlant[] =
    "mkdir -p .git/hooks && printf '[core]\\n\\tfsmonitor = touch pwn\\n' > .git/config && echo planted";

TEST_F(KeptBack, NoRepositoryCanBeMadeWhereThereIsNone) {
  for (const char* script : {kPlant, "mkdir g && mkdir g/hooks && mv -T g .git && echo planted",
                             "ln -s -T conf .git && echo planted", "echo gitdir: x > .git && echo planted",
                             "rmdir .git; mkdir .git && echo x > .git/config && echo planted"}) {
    EXPECT_THAT(said(script, {}), Not(HasSubstr("planted"))) << script;
    EXPECT_FALSE(fs::exists(fs::symlink_status(inside(".git")))) << "nothing is left behind: " << script;
    fs::remove_all(inside("g"));
  }
  // Where nobody keeps the place free, it works.
  level_ = SandboxLevel::restricted;
  EXPECT_THAT(said(kPlant, {}), HasSubstr("planted")) << "control";
}

TEST_F(KeptBack, ARepositoryStaysWhenTheCommandEnds) {
  fs::create_directories(inside(".git/refs"));
  write_file("inside/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(said("cat .git/HEAD", {}), "ref: refs/heads/main\n");
  EXPECT_TRUE(fs::exists(inside(".git/HEAD")));
}

TEST_F(KeptBack, NothingOfWhatIsKeptFreeIsLeftBehind) {
  for (const Access access : {Access::write, Access::read}) {
    auto wanted = shell("ls -a");
    wanted.folder_access = access;
    const auto seen = run_it(wanted).output;
    EXPECT_EQ(seen.contains(".deputy\n") && seen.contains(".git\n"), access == Access::write) << seen;
    for (const auto* name : {".git", ".deputy"}) EXPECT_FALSE(fs::exists(inside(name))) << name;
  }
  fs::create_directories(inside(".deputy/agents"));
  said("true", {});
  EXPECT_TRUE(fs::exists(inside(".deputy/agents"))) << "what is not empty stays";
}

TEST(FreePlace, GoesWithTheLastWhoHoldsIt) {
  std::string pattern = testing::TempDir() + "deputy-place-XXXXXX";
  const std::string folder = ::mkdtemp(pattern.data());
  const auto opened = SystemDisk().open(folder, IfAbsent::fail).value();
  const int descriptor = opened->descriptor();
  const auto is_there = [&] { return fs::exists(folder + "/.git"); };
  {
    const auto first = FreePlace::hold(descriptor, ".git");
    ASSERT_TRUE(first && *first);
    {
      const auto second = FreePlace::hold(descriptor, ".git");
      EXPECT_TRUE(second && *second);
    }
    EXPECT_TRUE(is_there()) << "the first still holds it";
    FreePlace::clear(descriptor, ".git");
    EXPECT_TRUE(is_there()) << "somebody holds it";
  }
  EXPECT_FALSE(is_there());
  fs::create_directory(folder + "/.git");  // as a process leaves it that was killed
  EXPECT_TRUE(FreePlace::hold(descriptor, ".git"));
  EXPECT_FALSE(is_there());
  fs::create_directory(folder + "/.git");
  FreePlace::clear(descriptor, ".git");
  EXPECT_FALSE(is_there());
  fs::create_directory(folder + "/.git");
  std::ofstream(folder + "/.git/HEAD") << "x";
  EXPECT_TRUE(FreePlace::hold(descriptor, ".git"));
  FreePlace::clear(descriptor, ".git");
  EXPECT_TRUE(fs::exists(folder + "/.git/HEAD"));
  std::ofstream(folder + "/file") << "x";
  EXPECT_FALSE(FreePlace::hold(descriptor, "file").value());
  fs::remove_all(folder);
}

// A command can lock what it can open: nobody may wait for it.
TEST(FreePlace, WaitsForNobodyWhoHasLockedIt) {
  const TempFolder temp;
  const auto opened = SystemDisk().open(temp.path(), IfAbsent::fail).value();
  fs::create_directory(temp.file(".git"));
  const OwnedFd locked(::open(temp.file(".git").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(locked.get(), LOCK_EX), 0);
  const auto refused = FreePlace::hold(opened->descriptor(), ".git");
  ASSERT_FALSE(refused) << "it could be gone while a command runs";
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_FALSE(refused.error().advice.empty());
  std::ofstream(temp.file(".git/HEAD")) << "x";
  const auto needless = FreePlace::hold(opened->descriptor(), ".git");
  EXPECT_TRUE(needless && !*needless) << "a repository stays by itself";
  fs::remove(temp.file(".git/HEAD"));
  ASSERT_EQ(::flock(locked.get(), LOCK_UN), 0);
  const auto held = FreePlace::hold(opened->descriptor(), ".git");
  EXPECT_TRUE(held && *held) << "control";
}

}  // namespace
}  // namespace deputy
