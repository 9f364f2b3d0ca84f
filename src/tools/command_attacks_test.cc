// Attacks by what a command does itself, against the whole pipeline on a real disk and in a real sandbox,
// each with its control: what the same command does where no rule, or no guard, stands in its way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/another_process.h"
#include "tools/bash.h"
#include "tools/real_bench.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kCanary = "CANARY-7d03";

class CommandAttacks : public RealBench {
 protected:
  void SetUp() override {
    const auto can = run(loop, processes.capability({}));
    if (!can || can->level < SandboxLevel::isolated) GTEST_SKIP() << "this machine cannot isolate processes";
    session.sandbox_level = static_cast<int>(can->level);
    fs::create_directories(ws() / "secrets");
    write("secrets/key", kCanary);
    write("script.sh", "echo harmless\n");
  }
  fs::path ws() const { return temp.file("ws"); }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(ws() / name, std::ios::binary) << bytes;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream in(ws() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& name) const { return fs::exists(fs::symlink_status(ws() / name)); }

  // Bash is allowed.
  std::string said(std::string_view command, std::vector<Rule> rules = {}) {
    rules.push_back({Decision::allow, "Bash", ""});
    return call({std::make_shared<BashTool>(background, BashPolicy{.least = least})}, "Bash",
                {{"command", command}}, std::move(rules))
        .content;
  }

  BackgroundCommands background{loop};
  SandboxLevel least = SandboxLevel::isolated;
};

TEST_F(CommandAttacks, ADenyOfReadBindsWhatACommandOpens) {
  const std::vector<Rule> denied{{Decision::deny, "Read", "secrets/**"}};
  for (const char* command : {"cat secrets/key", "cat ./secrets/../secrets/key", "grep -r CANARY .",
                              "python3 open.py", "cp -r secrets s; cat s/key", "tar c secrets"}) {
    write("open.py", "print(open('secrets/key').read())\n");
    EXPECT_THAT(said(command), HasSubstr(kCanary)) << "control: " << command;
    fs::remove_all(ws() / "s");
    EXPECT_THAT(said(command, denied), Not(HasSubstr(kCanary))) << command;
    fs::remove_all(ws() / "s");
  }
  EXPECT_THAT(said("mv secrets other; mkdir -p x; ls", denied), HasSubstr("secrets"));
  EXPECT_TRUE(exists("secrets/key")) << "not moved to where no rule denies it";
}

TEST_F(CommandAttacks, WhereWhatIsDeniedCannotBeHiddenTheCommandIsAskedAbout) {
  least = SandboxLevel::restricted;
  session.sandbox_level = 1;
  EXPECT_THAT(said("cat secrets/key"), HasSubstr(kCanary)) << "control";
  const auto refused = said("cat secrets/key", {{Decision::deny, "Read", "secrets/**"}});
  EXPECT_THAT(refused, Not(HasSubstr(kCanary)));
  EXPECT_THAT(refused, HasSubstr("needs approval"));
}

TEST_F(CommandAttacks, ADenyOfEditBindsWhatACommandWrites) {
  const std::vector<Rule> denied{{Decision::deny, "Edit", "secrets/**"}};
  said("echo changed > secrets/key; echo new > secrets/new", denied);
  EXPECT_FALSE(exists("secrets/new"));
  EXPECT_THAT(said("cat secrets/key", denied), HasSubstr(kCanary));
  said("echo changed | tee secrets/key");
  EXPECT_THAT(said("cat secrets/key"), HasSubstr("changed")) << "control";
}

TEST_F(CommandAttacks, NoRepositoryIsPlantedForThePersonsOwnGit) {
  const std::string plant = "git init -q {0}; git -C {0} config core.fsmonitor 'touch pwn'; echo ran";
  said(fmt::format(fmt::runtime(plant), "."));
  EXPECT_FALSE(exists(".git"));
  EXPECT_THAT(said(fmt::format(fmt::runtime(plant), "sub")), HasSubstr("sub/.git-set-aside"));
  EXPECT_FALSE(exists("sub/.git"));
  EXPECT_TRUE(exists("sub/.git-set-aside/config"));
  // Nor by a link, nor by a name that a link had, nor by many at once, nor where the usual names are taken.
  // One that is there, a submodule for instance, is not turned into another. By a script, because a command
  // that names .git is asked about.
  fs::create_directories(ws() / "lib");
  write("lib/.git", "gitdir: elsewhere\n");
  fs::create_directories(ws() / "linked");
  fs::create_directory_symlink("/nonexistent", ws() / "linked/.git");
  write("plant.py",
        "import os\nos.remove('linked/.git')\nos.makedirs('linked/.git')\n"
        "os.makedirs('l')\nos.makedirs('evil')\nos.symlink('../evil', 'l/.git')\n"
        "def tried(what, *names):\n  try: what(*names)\n  except OSError as e: print('refused', e.errno)\n"
        "tried(os.remove, 'lib/.git')\ntried(os.rename, 'lib', 'lib2')\n"
        "tried(lambda: open('lib/.git', 'w').write('gitdir: evil'))\n"
        "for i in range(70): os.makedirs(f'm/{i}/.git')\n"
        "os.makedirs('t/.git')\nos.symlink('nowhere', 't/.git-set-aside')\n"
        "for i in range(2, 10): open(f't/.git-set-aside-{i}', 'w')\n");
  EXPECT_THAT(said("python3 plant.py"),
              AllOf(HasSubstr("refused 16\nrefused 16\nrefused 30\n"), HasSubstr("t/.git-set-aside-10"),
                    HasSubstr("l/.git-set-aside")));
  EXPECT_FALSE(exists("linked/.git") || exists("t/.git") || exists("l/.git"));
  EXPECT_EQ(text_of("lib/.git"), "gitdir: elsewhere\n");
  for (int i = 0; i < 70; ++i) EXPECT_FALSE(exists(fmt::format("m/{}/.git", i)));
  // Outside of the sandbox the same makes a repository, and git runs what it configures.
  const std::string there = ws() / "control";
  fs::create_directories(there);
  const std::string control = fmt::format(
      "cd {0} && git init -q . && git config core.fsmonitor 'touch {0}/pwn; false' && git status >/dev/null "
      "2>&1; test -e {0}/pwn",
      there);
  EXPECT_EQ(std::system(control.c_str()), 0) << "control";
}

// Root can list every folder, so these are tried as somebody else, in a process of their own.
class AsOrdinaryUser : public CommandAttacks {
 public:
  AsOrdinaryUser() {
    SetUp();
    fs::create_directory(ws() / "config");
    write("config/.env", kCanary);
  }
  void TestBody() override {}
  bool can_isolate() const { return session.sandbox_level.has_value(); }
  using CommandAttacks::exists;
  using CommandAttacks::said;
  using CommandAttacks::text_of;
  using CommandAttacks::write;
  using CommandAttacks::ws;
};

std::string tried_as_ordinary_user(const std::function<std::string(AsOrdinaryUser&)>& attack) {
  return in_another_process(become_ordinary, [&] {
    AsOrdinaryUser stage;
    return stage.can_isolate() ? attack(stage) : "cannot isolate";
  });
}

TEST(UnlistedFolder, IsNoWayRoundADenyOfReadOrEdit) {
  // What the second command says, and what stands in the file afterwards.
  const auto attempt = [](std::vector<Rule> rules, std::string_view first = "chmod 311 config") {
    return tried_as_ordinary_user([&](AsOrdinaryUser& stage) {
      stage.said(first, rules);
      stage.write("attack.sh", "chmod 755 config; cat config/.env; echo changed > config/.env; echo tried");
      const auto told = stage.said("sh attack.sh", rules);
      fs::permissions(stage.ws() / "config", fs::perms::owner_all);
      return fmt::format("{} / {}", told, stage.text_of("config/.env"));
    });
  };
  const std::string control = attempt({}, "true");
  if (control == "cannot isolate") GTEST_SKIP() << "this machine cannot isolate processes";
  EXPECT_EQ(control, fmt::format("{}tried / changed\n", kCanary)) << "control";
  const std::string read = fmt::format("{}tried", kCanary);
  const std::string unchanged = fmt::format(" / {}", kCanary);
  EXPECT_THAT(attempt({}), HasSubstr(read)) << "control: it can be read where no rule denies that";
  EXPECT_THAT(attempt({{Decision::deny, "Read", "**/.env"}}),
              AllOf(HasSubstr("tried"), Not(HasSubstr(read)), HasSubstr(unchanged)));
  EXPECT_THAT(attempt({{Decision::deny, "Edit", "**/.env"}}),
              AllOf(HasSubstr("tried"), HasSubstr(unchanged)));
}

TEST(UnlistedFolder, HidesNoRepositoryFromThePerson) {
  const auto text = tried_as_ordinary_user([](AsOrdinaryUser& stage) {
    auto told = stage.said("git init -q open; git init -q shut; chmod 311 shut");
    stage.write("attack.sh", "chmod 755 shut; git -C shut config core.fsmonitor 'touch pwn'; echo tried");
    told += stage.said("sh attack.sh");
    fs::permissions(stage.ws() / "shut", fs::perms::owner_all);
    told += stage.text_of("shut/.git/config");
    return told;
  });
  if (text == "cannot isolate") GTEST_SKIP() << "this machine cannot isolate processes";
  EXPECT_THAT(text, AllOf(HasSubstr("open/.git-set-aside"), HasSubstr("left in shut cannot be looked at"),
                          HasSubstr("tried"), HasSubstr("[core]"), Not(HasSubstr("fsmonitor"))));
}

TEST(UnlistedFolder, OfAllOthersNoCommandRunsIn) {
  const auto text = tried_as_ordinary_user([](AsOrdinaryUser& stage) {
    stage.said("chmod 311 .");
    auto told = stage.said("echo ran");
    fs::permissions(stage.ws(), fs::perms::owner_all);
    return told;
  });
  if (text == "cannot isolate") GTEST_SKIP() << "this machine cannot isolate processes";
  EXPECT_THAT(text, AllOf(HasSubstr("cannot be listed"), HasSubstr("chmod u+rx"), Not(HasSubstr("ran"))));
}

// Outside of the sandbox, with the rights of whoever runs the tests.
bool happens_outside(const std::string& folder, const std::string& command) {
  return std::system(fmt::format("cd {} && {{ {}; }} >/dev/null 2>&1", folder, command).c_str()) == 0;
}

TEST_F(CommandAttacks, ARepositoryThatAGitFileNamesIsNotConfigured) {
  const std::string setup =
      "git init -q --bare .bare && echo 'gitdir: ./.bare' > .git && git -C .bare config core.bare false && "
      "git init -q --bare sub.git && mkdir sub && echo 'gitdir: ../sub.git' > sub/.git && "
      "git -C sub.git config core.bare false";
  const std::string own = "git config core.fsmonitor 'touch pwn; false'";
  const std::string below = "git -C sub config core.fsmonitor 'touch pwn; false'";
  ASSERT_TRUE(happens_outside(ws().string(), setup));
  EXPECT_THAT(said("git status"), HasSubstr("No commits yet")) << "it can be looked at";
  write("attack.sh",
        own + "\n" + below +
            "\necho pwn >> .bare/config; echo pwn >> sub.git/config; mv .bare b2; mv sub.git s2\n"
            "rm -rf .bare sub.git; echo tried\n");
  EXPECT_THAT(said("sh attack.sh"), HasSubstr("tried"));
  EXPECT_THAT(text_of(".bare/config"), AllOf(HasSubstr("bare = false"), Not(HasSubstr("pwn"))));
  EXPECT_THAT(text_of("sub.git/config"), AllOf(HasSubstr("bare = false"), Not(HasSubstr("pwn"))));
  EXPECT_TRUE(happens_outside(ws().string(), own + "; " + below + "; git status; test -e pwn")) << "control";
}

TEST_F(CommandAttacks, WhatAGitFileNamesMustBeThere) {
  write(".git", "gitdir: ./later\n");
  EXPECT_THAT(said("echo ran"), AllOf(HasSubstr("cannot be kept from a command"), Not(HasSubstr("ran\n"))));
  fs::create_directories(ws() / "real/.git");
  fs::create_directory_symlink("real", ws() / "link");
  write(".git", "gitdir: link/.git\n");
  EXPECT_THAT(said("echo ran"), HasSubstr("cannot be kept from a command"));
  write(".git", "gitdir: real/.git\n");
  EXPECT_EQ(said("echo ran"), "ran") << "control";
}

TEST_F(CommandAttacks, WhatARepositoryRunsFromTheWorkspaceIsNotRewritten) {
  fs::create_directory(ws() / ".husky");
  write(".husky/pre-commit", "#!/bin/sh\n");
  write("rewrite.py",
        "for name in ['.husky/pre-commit', '.husky/new']:\n  open(name, 'w').write('touch pwn')\n");
  EXPECT_THAT(said("python3 rewrite.py"), HasSubstr("Read-only file system"));
  EXPECT_EQ(text_of(".husky/pre-commit"), "#!/bin/sh\n");
  EXPECT_FALSE(exists(".husky/new"));
  said("python3 rewrite.py", {{Decision::allow, "Write", ".husky/**"}});
  EXPECT_EQ(text_of(".husky/pre-commit"), "touch pwn") << "control: the person allows it by its name";
}

// The person's own git would run it with the next status or commit.
TEST_F(CommandAttacks, WhatARepositoryIncludesIsNotRewritten) {
  fs::create_directory(ws() / "hooks-of-ours");
  write("hooks-of-ours/pre-commit", "#!/bin/sh\n");
  write("team.inc", "[user]\n\tname = we\n");
  write("plant.sh",
        "printf '[core]\\n\\tfsmonitor = touch pwn; false\\n' > team.inc; echo 'touch pwn' > "
        "hooks-of-ours/pre-commit; mv hooks-of-ours other; echo tried\n");
  ASSERT_TRUE(happens_outside(ws().string(),
                              "git init -q . && git config include.path ../team.inc && "
                              "git config core.hooksPath hooks-of-ours"));
  EXPECT_THAT(said("sh plant.sh"), HasSubstr("tried"));
  EXPECT_THAT(text_of("team.inc"), Not(HasSubstr("pwn")));
  EXPECT_EQ(text_of("hooks-of-ours/pre-commit"), "#!/bin/sh\n");
  EXPECT_TRUE(happens_outside(ws().string(), "sh plant.sh; git status; test -e pwn")) << "control";
}

TEST_F(CommandAttacks, AScriptThatIsALinkToItsInputIsNotRun) {
  for (const char* target : {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    fs::remove(ws() / "x.sh");
    fs::create_symlink(target, ws() / "x.sh");
    for (const char* command :
         {"echo 'touch pwn' | bash x.sh", "echo 'touch pwn' | nice -n 5 bash -e x.sh"}) {
      EXPECT_THAT(said(command), HasSubstr("leads out of the workspace")) << target << " " << command;
      EXPECT_FALSE(exists("pwn"));
      EXPECT_TRUE(happens_outside(ws().string(), std::string(command) + "; test -e pwn")) << "control";
      fs::remove(ws() / "pwn");
    }
  }
  EXPECT_EQ(said("echo x | bash script.sh"), "harmless") << "control: a script of the workspace";
  fs::create_symlink("/bin/sh", ws() / "python");
  EXPECT_EQ(said("echo x | timeout 5 ./python script.sh"), "harmless") << "a program may be a link";
}

TEST_F(CommandAttacks, AWayOutByCdLeadsNowhere) {  // shell-23
  const TempFolder out;
  std::ofstream(fs::path(out.path()) / "secret.txt") << kCanary;
  const std::string command = fmt::format("cd {} && cat secret.txt", out.path());
  EXPECT_THAT(said(command), Not(HasSubstr(kCanary)));
  EXPECT_TRUE(happens_outside(ws().string(), command)) << "control";
}

TEST_F(CommandAttacks, WhatTheRepositoryConfiguresReachesNothingOutside) {  // autoexec-01, -03, -05
  const TempFolder out;
  const std::string pwn = fs::path(out.path()) / "pwn-";
  const std::string setup = fmt::format(
      "git init -q . && git config user.name x && git config user.email x@x && echo a > f && "
      "echo 'f diff=x' > .gitattributes && git add . && git commit -qm x && echo b > f && "
      "git config core.fsmonitor 'touch {0}monitor; false' && "
      "git config diff.x.textconv 'touch {0}textconv; cat' && "
      "printf '#!/bin/sh\\ntouch {0}hook\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && "
      "rm -f {0}*",
      pwn);
  ASSERT_TRUE(happens_outside(ws().string(), setup));
  const std::pair<const char*, const char*> tried[] = {
      {"git status", "monitor"}, {"git diff", "textconv"}, {"git commit -am x", "hook"}};
  for (const auto& [command, name] : tried) {
    said(command);
    EXPECT_TRUE(fs::is_empty(out.path())) << command;
    happens_outside(ws().string(), command);
    EXPECT_TRUE(fs::exists(pwn + name)) << "control: " << command;
    for (const auto& [_, made] : tried) fs::remove(pwn + made);
  }
}

}  // namespace
}  // namespace deputy
