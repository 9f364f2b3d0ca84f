// Attacks by what a command does itself, against the whole pipeline on a real disk and in a real sandbox,
// each with its control: what the same command does where no rule, or no guard, stands in its way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/bash.h"
#include "tools/real_bench.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
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
  said("mkdir l; git init -q --bare evil; ln -s ../evil l/.git");
  EXPECT_FALSE(exists("l/.git")) << "nor by a link";
  // One that is there, a submodule for instance, is not turned into another.
  fs::create_directories(ws() / "lib");
  write("lib/.git", "gitdir: elsewhere\n");
  said("rm -rf lib/.git; git init -q lib; mv lib lib2; echo gitdir: evil > lib/.git");
  std::stringstream kept;
  kept << std::ifstream(ws() / "lib/.git").rdbuf();
  EXPECT_EQ(kept.str(), "gitdir: elsewhere\n");
  // Nor by a name that a link had, nor by many at once, nor where the usual names are taken.
  fs::create_directories(ws() / "linked");
  fs::create_directory_symlink("/nonexistent", ws() / "linked/.git");
  write("plant.py",
        "import os\nos.remove('linked/.git')\nos.makedirs('linked/.git')\n"
        "for i in range(70): os.makedirs(f'm/{i}/.git')\n"
        "os.makedirs('t/.git')\nos.symlink('nowhere', 't/.git-set-aside')\n"
        "for i in range(2, 10): open(f't/.git-set-aside-{i}', 'w')\n");
  EXPECT_THAT(said("python3 plant.py"), HasSubstr("t/.git-set-aside-10"));
  EXPECT_FALSE(exists("linked/.git") || exists("t/.git"));
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

// Outside of the sandbox, with the rights of whoever runs the tests.
bool happens_outside(const std::string& folder, const std::string& command) {
  return std::system(fmt::format("cd {} && {{ {}; }} >/dev/null 2>&1", folder, command).c_str()) == 0;
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
  const std::string pwn = fs::path(out.path()) / "pwn";
  const std::string setup = fmt::format(
      "git init -q . && git config user.name x && git config user.email x@x && echo a > f && "
      "echo 'f diff=x' > .gitattributes && git add . && git commit -qm x && echo b > f && "
      "git config core.fsmonitor 'touch {0}; false' && git config diff.x.textconv 'touch {0}; cat' && "
      "printf '#!/bin/sh\\ntouch {0}\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && rm -f "
      "{0}",
      pwn);
  ASSERT_TRUE(happens_outside(ws().string(), setup));
  for (const char* command : {"git status", "git diff", "git commit -am x"}) {
    fs::remove(pwn);
    said(command);
    EXPECT_FALSE(fs::exists(pwn)) << command;
    happens_outside(ws().string(), command);
    EXPECT_TRUE(fs::exists(pwn)) << "control: " << command;
  }
}

}  // namespace
}  // namespace deputy
