// What is wrong with the state folder is said in one line, and nothing is changed.
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class StateFolderTest : public DeputyTest {
 protected:
  Ran delegate() {
    return deputy({"delegate", "--model", script(R"({"v":1,"sessions":[{"replies":[{"text":"hi"}]}]})"),
                   "--task", "a=p"});
  }
  void expect_failure(const Ran& ran, std::string_view said) {
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("deputy: "), HasSubstr(std::string(said)), HasSubstr("; ")));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
};

TEST_F(StateFolderTest, AFileInItsPlace) {
  write(home(), "not a folder");
  expect_failure(delegate(), home().string());
  expect_failure(deputy({"sessions", "ls"}), home().string());
  EXPECT_EQ(contents(home()), "not a folder");
}

TEST_F(StateFolderTest, AFolderThatCannotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can write everywhere";
  fs::create_directory(home());
  fs::permissions(home(), fs::perms::owner_read | fs::perms::owner_exec);
  expect_failure(delegate(), home().string());
  EXPECT_TRUE(fs::is_empty(home()));
  fs::permissions(home(), fs::perms::owner_all);
}

TEST_F(StateFolderTest, AFolderWhereNobodyCanWrite) {
  // Not even root makes folders there.
  const auto ran = deputy(Start{.words = {"--home", "/sys/deputy", "demo"}});
  expect_failure(ran, "/sys/deputy");
}

TEST_F(StateFolderTest, AFullOneStopsTheRunAndSaysSo) {
  ASSERT_EQ(delegate().status, 0);
  const auto before = deputy({"sessions", "ls", "--output", "json"}).out;
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit small{.rlim_cur = 24 * 1024, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto ran = delegate();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("deputy: "), HasSubstr("deputy.db"), HasSubstr("; ")));
  EXPECT_THAT(deputy({"sessions", "ls", "--output", "json"}).out, HasSubstr("completed"));
  EXPECT_EQ(delegate().status, 0) << "with room again it works again";
}

TEST_F(StateFolderTest, ANewerDatabaseIsRefusedAndUntouched) {
  ASSERT_EQ(delegate().status, 0);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((home() / "deputy.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "PRAGMA user_version=999", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const auto before = contents(home() / "deputy.db");
  const auto files = files_below(home() / "subagent");
  expect_failure(delegate(), "newer");
  EXPECT_EQ(contents(home() / "deputy.db"), before);
  EXPECT_EQ(files_below(home() / "subagent"), files);
}

TEST_F(StateFolderTest, ADamagedDatabaseIsRefusedAndUntouched) {
  const std::string garbage(8192, 'g');
  write(home() / "deputy.db", garbage);
  expect_failure(delegate(), "deputy.db");
  EXPECT_EQ(contents(home() / "deputy.db"), garbage);
}

TEST_F(StateFolderTest, AnEmptyDatabaseFileIsFilled) {
  write(home() / "deputy.db", "");
  EXPECT_EQ(delegate().status, 0);
}

TEST_F(StateFolderTest, ItIsFoundByFlagVariableAndDefault) {
  EXPECT_EQ(deputy({"sessions", "ls", "--home", "here"}).status, 0);
  EXPECT_TRUE(fs::exists(work() / "here" / "deputy.db"));
  EXPECT_EQ(deputy({.words = {"sessions", "ls"},
                    .environment = {{"DEPUTY_HOME", ""}, {"XDG_STATE_HOME", root() / "xdg"}}})
                .status,
            0);
  EXPECT_TRUE(fs::exists(root() / "xdg" / "deputy" / "deputy.db"));
  EXPECT_EQ(deputy({.words = {"sessions", "ls"}, .environment = {{"DEPUTY_HOME", ""}}}).status, 0);
  EXPECT_TRUE(fs::exists(root() / "person/.local/state/deputy/deputy.db"));
}

}  // namespace
}  // namespace deputy
