// What is wrong with the state folder is said in one line, and nothing is changed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "base/disk_mark.h"
#include "base/json.h"
#include "deputy_program.h"
#include "store/migrations/0001_initial.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/sqlite_store.h"
#include "support/paths.h"
#include "support/run.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StateFolderTest : public DeputyTest {
 protected:
  using Folder = std::map<std::string, std::string>;  // each file with what is in it

  std::vector<std::string> delegation() const {
    return {"delegate", "--model", script(R"({"v":1,"sessions":[{"replies":[{"text":"hi"}]}]})"), "--task",
            "a=p"};
  }
  Ran delegate() { return deputy(delegation()); }
  // Where the state folder is another than it seems.
  Ran delegate_in(std::vector<std::string> mounts, std::string_view shell_script) {
    std::vector<std::string> through{"/usr/bin/bwrap", "--dev-bind", "/", "/"};
    through.insert(through.end(), mounts.begin(), mounts.end());
    through.insert(through.end(), {"--", "/bin/sh", "-c", std::string(shell_script)});
    return deputy({.words = delegation(), .through = through});
  }
  bool can_mount() { return delegate_in({}, "exit 0").status == 0; }
  static void expect_failure(const Ran& ran, std::string_view said) {
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("deputy: "), HasSubstr(std::string(said)), HasSubstr("; ")));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
  Folder everything() const {
    Folder folder;
    for (const auto& name : files_below(home()))
      folder[name] = fs::is_regular_file(home() / name) ? contents(home() / name) : "";
    return folder;
  }
  Folder everything_but_index() const {
    Folder folder = everything();
    folder.erase("deputy.db-shm");  // of the log, for who looks at it
    return folder;
  }
  void alter_database(const char* sql, int leaves_its_log = 0) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((home() / "deputy.db").c_str(), &database), SQLITE_OK);
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves_its_log, nullptr);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }
  // What was kept is, and nothing is changed: written back into the database, or in the log that a killed
  // process leaves.
  void expect_is_only_read(std::vector<std::string> through, fs::perms of_home) {
    ASSERT_EQ(delegate().status, 0);
    const auto looking = [&](std::vector<std::string> words) {
      fs::permissions(home(), of_home);
      auto ran = deputy({.words = std::move(words), .through = through});
      fs::permissions(home(), fs::perms::owner_all);
      return ran;
    };
    const auto listed = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    ASSERT_TRUE(listed && listed->is_array() && !listed->as_array().empty());
    const std::string id = string_or(listed->as_array().front().as_object(), "id", "");
    for (const bool has_log : {false, true}) {
      SCOPED_TRACE(has_log ? "with a log" : "without a log");
      if (has_log)
        alter_database("CREATE TABLE of_the_log(x); DROP TABLE of_the_log", 1);
      else
        alter_database("PRAGMA wal_checkpoint(TRUNCATE)");
      ASSERT_EQ(fs::exists(home() / "deputy.db-wal"), has_log);
      const auto exported = deputy({"sessions", "export", id}).out;
      ASSERT_THAT(exported, HasSubstr(id));
      if (!has_log) fs::remove(home() / "deputy.db-wal");  // as empty as who looked has left it
      if (!has_log) fs::remove(home() / "deputy.db-shm");
      const auto before = everything_but_index();
      for (const auto* view : {"ls", "tree", "transcript", "export"}) {
        std::vector<std::string> words{"sessions", view};
        if (words[1] != "ls") words.push_back(id);
        const auto ran = looking(words);
        EXPECT_EQ(ran.status, 0) << view << ": " << ran.err;
        EXPECT_THAT(ran.out, HasSubstr(id)) << view;
        if (words[1] == "export") EXPECT_EQ(ran.out, exported);
      }
      EXPECT_EQ(looking({}).status, 0);
      for (const auto& words : {std::vector<std::string>{"sessions", "cancel", id}, delegation()}) {
        const auto refused = looking(words);
        expect_failure(refused, home().string());
        EXPECT_THAT(refused.err, HasSubstr("--home"));
      }
      EXPECT_EQ(everything_but_index(), before);
    }
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

TEST_F(StateFolderTest, AReadOnlyDiskIsNamedAndUntouched) {
  NEEDS(can_mount(), "bubblewrap cannot mount here");
  fs::create_directory(home());
  expect_failure(delegate_in({"--ro-bind", home(), home()}, R"(exec "$0" "$@")"), "Read-only file system");
  EXPECT_TRUE(fs::is_empty(home()));
  ASSERT_EQ(delegate().status, 0);
  const auto before = everything();
  expect_failure(delegate_in({"--ro-bind", home(), home()}, R"(exec "$0" "$@")"), home().string());
  EXPECT_EQ(everything(), before);
}

TEST_F(StateFolderTest, WhatWasKeptOnAReadOnlyDiskIsRead) {
  NEEDS(can_mount(), "bubblewrap cannot mount here");
  expect_is_only_read({"/usr/bin/bwrap", "--dev-bind", "/", "/", "--ro-bind", home(), home(), "--"},
                      fs::perms::owner_all);
}

// Without its capabilities also root is bound by what the folder says; its files could be written.
TEST_F(StateFolderTest, WhatWasKeptInAFolderWhereNothingCanBeMadeIsRead) {
  NEEDS(can_mount(), "bubblewrap cannot mount here");
  expect_is_only_read({"/usr/bin/bwrap", "--dev-bind", "/", "/", "--cap-drop", "ALL", "--"},
                      fs::perms::owner_read | fs::perms::owner_exec);
}

TEST_F(StateFolderTest, AFullDiskSaysSoFromTheFirstRunOnAndLeavesNothingInTheWay) {
  NEEDS(can_mount(), "bubblewrap cannot mount here");
  fs::create_directory(home());
  const auto ran = delegate_in({"--size", "8388608", "--tmpfs", home()},
                               R"(cat /dev/zero >"$DEPUTY_HOME/all" 2>/dev/null
                                  "$0" "$@"
                                  status=$?
                                  rm "$DEPUTY_HOME/all"
                                  "$0" "$@" >/dev/null 2>&1 || exit 91
                                  "$0" sessions ls --output json >"$HOME/kept"
                                  exit $status)");
  expect_failure(ran, "full");
  EXPECT_THAT(ran.err, Not(HasSubstr("deputy resume"))) << "nothing was kept to go on with";
  const auto kept = parse_json(contents(root() / "person/kept"));
  ASSERT_TRUE(kept && kept->is_array());
  EXPECT_EQ(kept->as_array().size(), 1u) << "of the second run alone";
}

TEST_F(StateFolderTest, AFullDiskStopsTheRunAndKeepsWhatWasThere) {
  NEEDS(can_mount(), "bubblewrap cannot mount here");
  fs::create_directory(home());
  const auto ran = delegate_in({"--size", "8388608", "--tmpfs", home()},
                               R"("$0" "$@" >/dev/null 2>&1 || exit 90
                                  "$0" sessions ls --output json | sed 's/"idle[^,]*,//g' >"$HOME/before"
                                  cat /dev/zero >"$DEPUTY_HOME/all" 2>/dev/null
                                  "$0" "$@"
                                  status=$?
                                  rm "$DEPUTY_HOME/all"
                                  "$0" sessions ls --output json | sed 's/"idle[^,]*,//g' >"$HOME/after"
                                  "$0" "$@" >/dev/null 2>&1 || exit 91
                                  exit $status)");
  EXPECT_EQ(ran.status, 1) << "90: it never worked, 91: with room again it does not work again";
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(StartsWith("deputy: "), HasSubstr("full"), HasSubstr("free some disk space")));
  const auto before = contents(root() / "person/before");
  EXPECT_THAT(before, HasSubstr("completed"));
  EXPECT_THAT(contents(root() / "person/after"), HasSubstr(before.substr(0, before.rfind(']'))));
}

TEST_F(StateFolderTest, ANewerDatabaseIsRefusedAndUntouched) {
  ASSERT_EQ(delegate().status, 0);
  // However it is kept: in a log beside it as ours, or not.
  for (const char* sql : {"PRAGMA user_version=999", "PRAGMA journal_mode=DELETE"}) {
    alter_database(sql);
    const auto before = everything();
    expect_failure(delegate(), "newer");
    expect_failure(deputy({"sessions", "ls"}), "newer");
    EXPECT_EQ(everything(), before);
  }
}

// Its mark may count what this one does not know of: nothing is taken for lost, and nothing copied.
TEST_F(StateFolderTest, ANewerDatabaseIsRefusedWithALogBesideIt) {
  ASSERT_EQ(delegate().status, 0);
  alter_database("PRAGMA user_version=999", 1);
  ASSERT_GT(fs::file_size(home() / "deputy.db-wal"), 0u);
  const auto folder = *SystemDisk().open(home().string(), IfAbsent::fail);
  DiskMark::open(*folder, "deputy.mark")->write(1'000'000);
  const auto before = everything_but_index();
  expect_failure(delegate(), "newer");
  expect_failure(deputy({"sessions", "ls"}), "newer");
  EXPECT_EQ(everything_but_index(), before);
}

TEST_F(StateFolderTest, ADamagedDatabaseIsRefusedAndUntouched) {
  write(home() / "deputy.db", std::string(8192, 'g'));
  const auto before = everything();
  expect_failure(delegate(), "deputy.db is damaged");
  EXPECT_EQ(everything(), before);
}

TEST_F(StateFolderTest, ADatabaseWithADamagedPageIsRefusedAndItsFilesUntouched) {
  ASSERT_EQ(delegate().status, 0);
  auto bytes = contents(home() / "deputy.db");
  ASSERT_GT(bytes.size(), 8192);
  write(home() / "deputy.db", bytes.replace(100, 3996, 3996, 'g'));  // its list of tables
  const auto before = everything();
  expect_failure(delegate(), "deputy.db is damaged");
  auto after = everything();
  for (const char* of_sqlite : {"deputy.db-shm", "deputy.db-wal"})
    after.erase(of_sqlite);  // it looks with them
  EXPECT_EQ(after, before);
}

// Whatever version it calls itself, and also where it is a copy of ours that calls itself an older one.
TEST_F(StateFolderTest, ADatabaseOfAnotherProgramIsRefusedAndUntouched) {
  fs::create_directories(home());
  const auto newest = fmt::format("PRAGMA journal_mode=WAL; PRAGMA user_version={}", newest_schema());
  for (const char* sql :
       {"CREATE TABLE mine(x); INSERT INTO mine VALUES (1)", "PRAGMA user_version=2", newest.c_str()}) {
    alter_database(sql);
    const auto before = everything();
    expect_failure(delegate(), "its tables are not those of a deputy's database");
    expect_failure(deputy({"sessions", "ls"}), "its tables are not those of a deputy's database");
    EXPECT_EQ(everything(), before);
  }
  fs::remove(home() / "deputy.db");
  ASSERT_EQ(delegate().status, 0);
  alter_database("PRAGMA journal_mode=DELETE; PRAGMA user_version=1");
  const auto before = everything();
  expect_failure(delegate(), "its tables are not those of a deputy's database");
  EXPECT_EQ(everything(), before);
  alter_database(fmt::format("PRAGMA user_version={}", newest_schema()).c_str());
  EXPECT_EQ(delegate().status, 0) << "kept without a log, but ours";
}

// It can only be looked at with what lies beside it, so it is opened before it is known.
TEST_F(StateFolderTest, ADatabaseOfAnotherProgramIsRefusedWithALogBesideIt) {
  fs::create_directories(home());
  alter_database("PRAGMA journal_mode=WAL; CREATE TABLE mine(x); INSERT INTO mine VALUES (1)", 1);
  ASSERT_GT(fs::file_size(home() / "deputy.db-wal"), 0u);
  const auto before = everything_but_index();
  expect_failure(delegate(), "its tables are not those of a deputy's database");
  expect_failure(deputy({"sessions", "ls"}), "its tables are not those of a deputy's database");
  EXPECT_EQ(everything_but_index(), before);
}

// Whoever closes a database last writes its log back and removes it. Whether one is the last is a matter of
// locks, of which a process loses all with the first descriptor of the file that it closes beside SQLite.
TEST_F(StateFolderTest, ASecondStoreOfAProcessLeavesTheLocksOfTheFirst) {
  const SessionId tree("sess_1_aaaaaa");
  SimLoop loop(1);
  const auto folder = *SystemDisk().open(home().string(), IfAbsent::create);
  const auto open = [&] { return *SqliteStore::open(loop, *folder, std::make_unique<InlineWriter>(loop)); };
  auto first = open();
  ASSERT_TRUE(first->claim(tree));
  open().reset();
  ASSERT_EQ(delegate().status, 0);
  Event created;
  created.tree = tree;
  created.run = {tree, 1};
  created.fact = SessionCreated{Session{.id = tree, .tree = tree}};
  ASSERT_TRUE(run(loop, first->record({created})));
  EXPECT_THAT(deputy({"sessions", "ls"}).out, HasSubstr(tree.value)) << "it was acknowledged";
}

// As a kill leaves it between the first page and the removal of the journal by which SQLite takes it back.
TEST_F(StateFolderTest, OneThatWasBeingMadeIsMadeAnew) {
  ASSERT_EQ(delegate().status, 0);
  alter_database("PRAGMA journal_mode=DELETE");
  const auto kept = contents(home() / "deputy.db");
  // SQLite's own: its journal of a change to the first page, and the page half-changed.
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((home() / "deputy.db").c_str(), &database), SQLITE_OK);
  const auto run = [&](const char* sql) { return sqlite3_exec(database, sql, nullptr, nullptr, nullptr); };
  ASSERT_EQ(run("PRAGMA journal_mode=PERSIST; PRAGMA cache_spill=1; PRAGMA cache_size=1; BEGIN IMMEDIATE; "
                "PRAGMA application_id=7; CREATE TABLE more(x); "
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200) "
                "INSERT INTO more SELECT randomblob(4000) FROM n"),
            SQLITE_OK);
  const auto journal = contents(home() / "deputy.db-journal");
  const auto changed = contents(home() / "deputy.db");
  ASSERT_FALSE(journal.empty());
  ASSERT_NE(changed, kept) << "it has spilled";
  ASSERT_EQ(run("ROLLBACK"), SQLITE_OK);
  sqlite3_close(database);
  for (auto torn : {changed, std::string(changed).replace(0, 2048, 2048, '\0')}) {
    write(home() / "deputy.db", torn);
    write(home() / "deputy.db-journal", journal);
    const auto listed = deputy({"sessions", "ls"});
    EXPECT_EQ(listed.status, 0) << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("[a] p"));
    EXPECT_EQ(delegate().status, 0);
    alter_database("PRAGMA journal_mode=DELETE");
  }
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

// It could still be read by the deputy that wrote it.
TEST_F(StateFolderTest, ADamagedDatabaseOfAnOlderVersionIsNotBroughtToTheNewest) {
  fs::create_directories(home());
  alter_database((std::string(k0001Initial) + "; PRAGMA user_version=1").c_str());
  auto bytes = contents(home() / "deputy.db");
  ASSERT_GT(bytes.size(), 8192);
  write(home() / "deputy.db", bytes.replace(bytes.size() - 4096, 4096, 4096, 'g'));
  const auto before = everything();
  expect_failure(delegate(), "is brought to schema");
  EXPECT_EQ(everything(), before);
}

// One bit of the header is enough for either.
TEST_F(StateFolderTest, ADatabaseWithADamagedVersionIsRefused) {
  ASSERT_EQ(delegate().status, 0);
  for (const char* version : {"PRAGMA user_version=-2147483645", "PRAGMA user_version=1"}) {
    alter_database(version);
    const auto before = everything();
    expect_failure(delegate(), "deputy.db is damaged");
    expect_failure(deputy({"sessions", "ls"}), "deputy.db is damaged");
    EXPECT_EQ(everything(), before) << version;
  }
}

}  // namespace
}  // namespace deputy
