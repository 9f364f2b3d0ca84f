// Attacks on paths, each against the whole pipeline on a real disk, and each with its control: what the
// attack would have got where nobody looked. A control that fails proves nothing, so it fails the test.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "store/transcript_files.h"
#include "tools/catalog.h"
#include "tools/real_bench.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kCanary = "CANARY-5f21";

class PathAttacks : public RealBench {
 protected:
  PathAttacks() { write(out() / "secret.txt", kCanary); }

  fs::path ws() const { return temp.file("ws"); }
  fs::path out() const { return temp.file("out"); }
  static void write(const fs::path& path, std::string_view bytes) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string read(const fs::path& path) {
    std::stringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }

  // Everything is allowed by rule unless a case says otherwise.
  static std::vector<Rule> generous() {
    std::vector<Rule> rules;
    for (const char* tool : {"Write", "Edit", "NotebookEdit"}) rules.push_back({Decision::allow, tool, ""});
    return rules;
  }
  ToolResult call(std::string_view tool, const json::object& arguments,
                  std::optional<std::vector<Rule>> rules = std::nullopt) {
    return RealBench::call(builtin_tools(), tool, arguments, std::move(rules).value_or(generous()));
  }
  void expect_refused(const ToolResult& result) {
    EXPECT_EQ(result.status, ToolStatus::error) << result.content;
    EXPECT_THAT(result.content, Not(HasSubstr(kCanary)));
    EXPECT_EQ(read(out() / "secret.txt"), kCanary);
  }
};

TEST_F(PathAttacks, Path01DotDotLeadsOut) {
  for (const char* path :
       {"../out/secret.txt", "a/../../out/secret.txt", "../../../../../../../etc/passwd"}) {
    const ToolResult result = call("Read", {{"file_path", path}});
    expect_refused(result);
    EXPECT_THAT(result.content, Not(HasSubstr("root:")));
  }
  EXPECT_EQ(read(ws() / "../out/secret.txt"), kCanary) << "control";
}

TEST_F(PathAttacks, Path02AFolderWhoseNameBeginsAlike) {
  fs::rename(out(), ws().string() + "-other");
  const fs::path beside = ws().string() + "-other";
  const ToolResult result = call("Read", {{"file_path", (beside / "secret.txt").string()}});
  EXPECT_EQ(result.status, ToolStatus::error);
  EXPECT_THAT(result.content, Not(HasSubstr(kCanary)));
  EXPECT_EQ(read(beside / "secret.txt"), kCanary) << "control";
  fs::rename(beside, out());
}

TEST_F(PathAttacks, Path04ALinkLeadsOut) {
  fs::create_symlink(out() / "secret.txt", ws() / "absolute");
  fs::create_symlink("../out/secret.txt", ws() / "relative");
  fs::create_symlink("../out", ws() / "folder");
  fs::create_symlink("folder", ws() / "twice");
  for (const char* path : {"absolute", "relative", "folder/secret.txt", "twice/secret.txt"}) {
    expect_refused(call("Read", {{"file_path", path}}));
    expect_refused(call("Edit", {{"file_path", path}, {"old_string", "CANARY"}, {"new_string", "x"}}));
    expect_refused(call("Write", {{"file_path", path}, {"content", "x"}}));
    EXPECT_EQ(read(ws() / path), kCanary) << "control: " << path;
  }
}

TEST_F(PathAttacks, Path05ALinkOnTheWayToANewFile) {
  fs::create_symlink("../out", ws() / "folder");
  expect_refused(call("Write", {{"file_path", "folder/new/deep"}, {"content", "x"}}));
  expect_refused(call("List", {{"path", "folder"}}));
  EXPECT_FALSE(fs::exists(out() / "new"));
  write(ws() / "folder/new/deep", "x");
  EXPECT_TRUE(fs::exists(out() / "new/deep")) << "control";
}

TEST_F(PathAttacks, Path06ALinkThatLeadsNowhereMakesNoFile) {
  fs::create_symlink("../out/created.txt", ws() / "dangling");
  fs::create_symlink("nowhere", ws() / "inside");
  expect_refused(call("Write", {{"file_path", "dangling"}, {"content", "x"}}));
  expect_refused(call("Write", {{"file_path", "inside"}, {"content", "x"}}));
  EXPECT_FALSE(fs::exists(out() / "created.txt"));
  EXPECT_FALSE(fs::exists(ws() / "nowhere"));
  write(ws() / "dangling", "x");
  EXPECT_TRUE(fs::exists(out() / "created.txt")) << "control";
}

TEST_F(PathAttacks, Path07AHardLinkIsNotReadUnasked) {
  fs::create_hard_link(out() / "secret.txt", ws() / "hl");
  expect_refused(call("Read", {{"file_path", "hl"}}));
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}}).content, Not(HasSubstr(kCanary)));
  auto rules = generous();
  rules.push_back({Decision::allow, "Read", "hl"});
  EXPECT_THAT(call("Read", {{"file_path", "hl"}}, rules).content, HasSubstr(kCanary)) << "control";
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}}, rules).content, HasSubstr(kCanary)) << "control";
}

TEST_F(PathAttacks, Path08AHardLinkIsNotWrittenThrough) {
  fs::create_hard_link(out() / "secret.txt", ws() / "hl");
  auto rules = generous();
  rules.push_back({Decision::allow, "Read", "hl"});
  call("Read", {{"file_path", "hl"}}, rules);
  const ToolResult result =
      call("Edit", {{"file_path", "hl"}, {"old_string", "CANARY"}, {"new_string", "x"}}, rules);
  EXPECT_EQ(result.status, ToolStatus::ok) << "it has a file of its own now: " << result.content;
  EXPECT_EQ(read(out() / "secret.txt"), kCanary);
  EXPECT_EQ(read(ws() / "hl"), "x-5f21");
  fs::create_hard_link(out() / "secret.txt", ws() / "hl2");
  write(ws() / "hl2", "x");
  EXPECT_EQ(read(out() / "secret.txt"), "x") << "control";
}

TEST_F(PathAttacks, Path09And10ProcIsNotReached) {
  fs::create_symlink("/proc/self/root", ws() / "root");
  fs::create_symlink("/proc/self/cwd", ws() / "cwd");
  fs::create_symlink("/proc/self/environ", ws() / "environ");
  for (const char* path : {"/proc/self/root/etc/passwd", "/proc/self/environ", "/proc/self/fd/0",
                           "root/etc/passwd", "cwd", "environ"}) {
    expect_refused(call("Read", {{"file_path", path}}));
  }
  EXPECT_THAT(read(ws() / "root/etc/passwd"), HasSubstr("root:")) << "control";
  EXPECT_FALSE(read(ws() / "environ").empty()) << "control";
}

TEST_F(PathAttacks, Path12APipeDoesNotHang) {
  ASSERT_EQ(::mkfifo((ws() / "p").c_str(), 0600), 0);
  expect_refused(call("Read", {{"file_path", "p"}}));
  expect_refused(call("Write", {{"file_path", "p"}, {"content", "x"}}));
  expect_refused(call("Edit", {{"file_path", "p"}, {"old_string", "x"}, {"new_string", "y"}}));
  const int opened = ::open((ws() / "p").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_GE(opened, 0) << "control: who opens it would wait";
  ::close(opened);
}

TEST_F(PathAttacks, Path13DevicesAreNotWritten) {
  if (::mknod((ws() / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    GTEST_SKIP() << "devices need root";
  expect_refused(call("Write", {{"file_path", "null"}, {"content", "x"}}));
  expect_refused(call("Read", {{"file_path", "null"}}));
  struct stat found{};
  ASSERT_EQ(::stat((ws() / "null").c_str(), &found), 0);
  EXPECT_TRUE(S_ISCHR(found.st_mode)) << "control: it is one still";
}

TEST_F(PathAttacks, Path14To16ProtectedNamesNeedMoreThanABroadRule) {
  fs::create_directories(ws() / ".git/hooks");
  for (const char* path : {".git/hooks/pre-commit", ".GIT/config", ".Git/config", ".claude/settings.json",
                           ".deputy/agents/x.md", ".deputy/config.toml", "sub/.git/hooks/pre-push"}) {
    expect_refused(call("Write", {{"file_path", path}, {"content", "#!/bin/sh\n"}}));
    EXPECT_FALSE(fs::exists(ws() / path)) << path;
    EXPECT_EQ(call("Write", {{"file_path", path}, {"content", "x"}},
                   std::vector{Rule{Decision::allow, "Write", path}})
                  .status,
              ToolStatus::ok)
        << "control: a rule that names it: " << path;
  }
}

TEST_F(PathAttacks, Path15AProtectedNameBehindALink) {
  fs::create_directories(ws() / ".git/hooks");
  fs::create_symlink(".git/hooks", ws() / "scripts");
  expect_refused(call("Write", {{"file_path", "scripts/pre-commit"}, {"content", "#!/bin/sh\n"}}));
  EXPECT_FALSE(fs::exists(ws() / ".git/hooks/pre-commit"));
  write(ws() / "scripts/pre-commit", "x");
  EXPECT_TRUE(fs::exists(ws() / ".git/hooks/pre-commit")) << "control";
}

TEST_F(PathAttacks, Path17ARuleWithATrailingSlash) {
  auto rules = generous();
  rules.push_back({Decision::deny, "Write", "secrets/"});
  expect_refused(call("Write", {{"file_path", "secrets/a"}, {"content", "x"}}, rules));
  expect_refused(call("Write", {{"file_path", "./secrets//b/../a"}, {"content", "x"}}, rules));
  EXPECT_FALSE(fs::exists(ws() / "secrets"));
  EXPECT_EQ(call("Write", {{"file_path", "secrets/a"}, {"content", "x"}}).status, ToolStatus::ok)
      << "control";
}

TEST_F(PathAttacks, Path18DenyRulesSeeThroughLinks) {
  write(ws() / "secrets/key", kCanary);
  fs::create_symlink("secrets", ws() / "public");
  fs::create_symlink("secrets/key", ws() / "readme");
  auto rules = generous();
  rules.push_back({Decision::deny, "Read", "secrets/**"});
  for (const char* path : {"readme", "public/key", "secrets/key"})
    expect_refused(call("Read", {{"file_path", path}}, rules));
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}}, rules).content, Not(HasSubstr(kCanary)));
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}, {"path", "readme"}}, rules).content,
              Not(HasSubstr(kCanary)));
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}, {"path", "public"}}, rules).content,
              Not(HasSubstr(kCanary)));
  EXPECT_THAT(call("Glob", {{"pattern", "*"}, {"path", "public"}}, rules).content, Not(HasSubstr("key\n")));
  EXPECT_THAT(call("Read", {{"file_path", "readme"}}).content, HasSubstr(kCanary)) << "control";
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}, {"path", "public"}}).content, HasSubstr(kCanary))
      << "control";
}

TEST_F(PathAttacks, Path19BidirectionalNamesAreShownAsTheyAre) {
  const std::string name = "a\u202etxt.exe";
  write(ws() / name, "text");
  const auto tools = builtin_tools();
  const std::string shown = tools.front()->shown({{"file_path", name}});
  EXPECT_THAT(shown, Not(HasSubstr("\u202e")));
  EXPECT_THAT(call("List", {}).content, Not(HasSubstr("\u202e")));
  EXPECT_EQ(read(ws() / name), "text") << "control: such a file can be";
}

TEST_F(PathAttacks, Path20ANulByte) {
  write(ws() / "ok.txt", "text");
  const std::string name("ok.txt\0/../../etc/passwd", 24);
  expect_refused(call("Read", {{"file_path", name}}));
  expect_refused(call("Write", {{"file_path", name}, {"content", "x"}}));
  EXPECT_EQ(read(ws() / name.c_str()), "text") << "control: cut at the NUL it names a file";
}

TEST_F(PathAttacks, Path22GrepFollowsNoLink) {
  fs::create_symlink(out(), ws() / "o");
  EXPECT_THAT(call("Grep", {{"pattern", "CANARY"}}).content, Not(HasSubstr(kCanary)));
  expect_refused(call("Grep", {{"pattern", "CANARY"}, {"path", "o"}}));
  expect_refused(call("Glob", {{"pattern", "*"}, {"path", "o"}}));
  EXPECT_EQ(read(ws() / "o/secret.txt"), kCanary) << "control";
}

TEST_F(PathAttacks, Path24And25LabelsNameNoFiles) {
  Session one;
  one.uuid = Uuid("uuid-1");
  Session two = one;
  two.uuid = Uuid("uuid-2");
  for (const char* label : {"../../../tmp/pwn", "/etc/passwd", "..", ".", "a/b", "a\nb", "same", ""}) {
    one.label = two.label = label;
    const std::string stem = TranscriptFiles::stem_of(one);
    EXPECT_FALSE(stem.contains('/') || stem.contains('\n') || stem.starts_with('.')) << stem;
    EXPECT_NE(stem, TranscriptFiles::stem_of(two)) << "two children of one label";
  }
  EXPECT_EQ((out() / "x/../../ws").lexically_normal(), ws()) << "control: a label taken as a path climbs";
}

TEST_F(PathAttacks, Deleg17AWorktreeChildDoesNotWriteTheMainCheckout) {
  session.workspace_mode = WorkspaceMode::worktree;
  expect_refused(call("Write", {{"file_path", (out() / "secret.txt").string()}, {"content", "x"}}));
  EXPECT_EQ(call("Write", {{"file_path", "a"}, {"content", "x"}}).status, ToolStatus::ok)
      << "control: in its own";
  write(out() / "control", "x");
  EXPECT_TRUE(fs::exists(out() / "control")) << "control: the folder can be written";
}

TEST_F(PathAttacks, Toctou02AFolderBecomesALinkBetweenLookingAndMaking) {
  fs::create_directories(ws() / "d");
  const auto place = workspace->look_up("d/new").value();
  fs::remove(ws() / "d");
  fs::create_symlink("../out", ws() / "d");
  EXPECT_FALSE(place->replace("x", ""));
  EXPECT_FALSE(fs::exists(out() / "new"));
  write(ws() / "d/new", "x");  // who looks and then goes by the name
  EXPECT_TRUE(fs::exists(out() / "new")) << "control";
}

TEST_F(PathAttacks, Toctou02AFolderIsMovedOutBetweenLookingAndMaking) {
  fs::create_directories(ws() / "d");
  const auto place = workspace->look_up("d/new").value();
  fs::rename(ws() / "d", out() / "d");
  EXPECT_FALSE(place->replace("x", ""));
  EXPECT_FALSE(fs::exists(out() / "d/new"));
}

TEST_F(PathAttacks, Toctou01AFileBecomesALinkBetweenJudgingAndReading) {
  write(ws() / "a", "harmless");
  write(ws() / "secrets/key", kCanary);
  const auto target = find_target(*workspace, {}, "a").value();
  fs::remove(ws() / "a");
  fs::create_symlink("secrets/key", ws() / "a");
  EXPECT_THAT(target.place->read(0, 100).value_or(""), Not(HasSubstr(kCanary)));
  EXPECT_EQ(read(ws() / "a"), kCanary) << "control: by its name it is the other file";
}

TEST_F(PathAttacks, Toctou04AFileThatChangedSinceItWasRead) {
  write(ws() / "f", "a\n");
  call("Read", {{"file_path", "f"}});
  write(ws() / "f", "a b\n");
  expect_refused(call("Edit", {{"file_path", "f"}, {"old_string", "a"}, {"new_string", "c"}}));
  EXPECT_EQ(read(ws() / "f"), "a b\n");
  call("Read", {{"file_path", "f"}});
  EXPECT_EQ(call("Edit", {{"file_path", "f"}, {"old_string", "a"}, {"new_string", "c"}}).status,
            ToolStatus::ok)
      << "control: read again";
}

TEST_F(PathAttacks, ModeAndOwnerSurviveAnEdit) {
  write(ws() / "run.sh", "#!/bin/sh\n");
  ASSERT_EQ(::chmod((ws() / "run.sh").c_str(), 0751), 0);
  call("Read", {{"file_path", "run.sh"}});
  ASSERT_EQ(call("Edit", {{"file_path", "run.sh"}, {"old_string", "sh\n"}, {"new_string", "bash\n"}}).status,
            ToolStatus::ok);
  struct stat found{};
  ASSERT_EQ(::stat((ws() / "run.sh").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0751U);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((ws() / "run.sh").c_str(), 1234, 1235), 0);
    ASSERT_EQ(call("Edit", {{"file_path", "run.sh"}, {"old_string", "bash"}, {"new_string", "dash"}}).status,
              ToolStatus::ok);
    ASSERT_EQ(::stat((ws() / "run.sh").c_str(), &found), 0);
    EXPECT_EQ(found.st_uid, 1234U);
    EXPECT_EQ(found.st_gid, 1235U);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(ws()), fs::directory_iterator()), 1)
      << "nothing is left beside it";
}

// Names are looked up and used while another thread turns a folder into a link that leads out, and back.
class RacedPaths : public PathAttacks {
 protected:
  void race(int opens) {
    fs::create_directories(ws() / "real");
    write(ws() / "real/secret.txt", "harmless");
    fs::create_symlink("../out", ws() / "evil");
    ASSERT_EQ(::rename((ws() / "real").c_str(), (ws() / "d").c_str()), 0);
    std::atomic<bool> is_over = false;
    std::atomic<long> swaps = 0;
    std::jthread racer([&] {
      while (!is_over) {
        ::renameat2(AT_FDCWD, (ws() / "d").c_str(), AT_FDCWD, (ws() / "evil").c_str(), RENAME_EXCHANGE);
        ++swaps;
      }
    });
    int escapes = 0;
    int read_well = 0;
    for (int i = 0; i < opens; ++i) {
      const auto place = workspace->look_up("d/secret.txt");
      const auto bytes = place ? (*place)->read(0, 100) : std::unexpected(place.error());
      if (bytes && *bytes == "harmless") ++read_well;
      if (bytes && bytes->contains(kCanary)) ++escapes;
      if (i % 64 == 0) {
        const auto fresh = workspace->look_up(fmt::format("d/new{}", i));
        if (fresh) static_cast<void>((*fresh)->replace("x", ""));
      }
    }
    is_over = true;
    racer.join();
    EXPECT_EQ(escapes, 0);
    EXPECT_GT(read_well, 0);
    EXPECT_GT(swaps, opens / 1000);
    EXPECT_EQ(std::distance(fs::directory_iterator(out()), fs::directory_iterator()), 1) << "only the secret";
    RecordProperty("swaps", std::to_string(swaps));
    RecordProperty("read", read_well);
  }
};

TEST_F(RacedPaths, TwentyThousandOpensWithoutAnEscape) { race(20'000); }

TEST_F(RacedPaths, ControlANaiveOpenEscapes) {
  fs::create_directories(ws() / "d");
  write(ws() / "d/secret.txt", "harmless");
  ASSERT_TRUE(fs::is_directory(fs::symlink_status(ws() / "d"))) << "looked at";
  fs::rename(ws() / "d", ws() / "real");
  fs::create_symlink("../out", ws() / "d");
  EXPECT_EQ(read(ws() / "d/secret.txt"), kCanary) << "and then opened by its name";
}

class RacedPathsLong : public RacedPaths {};

TEST_F(RacedPathsLong, AMillionOpensWithoutAnEscape) { race(1'000'000); }

}  // namespace
}  // namespace deputy
