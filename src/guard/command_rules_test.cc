// Rules of Bash: what each form of them means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guard/judged_commands.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using enum Decision;

TEST(CommandRules, APrefixIsOneOfWords) {
  const Rules rules = allowing("git status:*");
  for (const char* command : {"git status", "git status -s", "git  'status' src", "\"git\" status"}) {
    EXPECT_EQ(judged(rules, command), allow) << command;
  }
  for (const char* command :
       {"git", "git statusx", "git stash", "gitstatus", "git -C x status", "xgit status", "/tmp/git status",
        "./git status", "./nice git status", "sub/timeout 5 git status", "/tmp/nohup git status",
        "nice ./nice git status", "nice2/x git status", "git status; git push", "git status && rm x",
        "git status | sh", "sudo git status"}) {
    EXPECT_EQ(judged(rules, command), ask) << command;
  }
  EXPECT_EQ(judged(allowing("git status *"), "git status -s"), allow);
}

TEST(CommandRules, AStarWithinAWordForbidsAllThatBeginsSo) {
  const Rules program = denying("python*");
  for (const char* command : {"python", "python3 -V", "/usr/bin/python3.11 x", "PYTHON3", "python/bin/x",
                              "sudo python3", "timeout 5 python3 x", "ls && pythonw"}) {
    EXPECT_EQ(judged(program, command), deny) << command;
  }
  for (const char* command : {"pytho", "ls python3", "cat xpython"}) {
    EXPECT_EQ(judged(program, command), allow) << command;
  }
  const Rules word = denying("npm run test*");
  for (const char* command : {"npm run test", "npm run test:unit x", "npm --silent run testing"}) {
    EXPECT_EQ(judged(word, command), deny) << command;
  }
  EXPECT_EQ(judged(word, "npm run build"), allow);
  EXPECT_EQ(judged(denying("ls --col*"), "ls --color=auto x"), deny);
  EXPECT_EQ(judged(denying("ls -*"), "ls -l"), deny);
  EXPECT_EQ(judged(denying("./bin/*"), "./bin/x y"), deny);
  EXPECT_EQ(judged(denying("./bin/*"), "ls"), allow);
  EXPECT_EQ(judged(Rules({rule(allow, "Bash"), rule(ask, "Bash(python*)")}), "python3"), ask);
  EXPECT_EQ(judged(Rules({rule(allow, "Bash(!python*)")}), "python3"), ask);
  EXPECT_EQ(judged(Rules({rule(allow, "Bash(!python*)")}), "ls"), allow);
  EXPECT_THAT(to_text(parse_rule(allow, "Bash(python*)").error()), HasSubstr("ends within a word"));
  for (const char* wrong : {"Bash(py*n*)", "Bash(* x)", "Bash(py**)", "Bash(!*)"})
    EXPECT_FALSE(parse_rule(deny, wrong)) << wrong;
}

TEST(CommandRules, WithoutAStarItIsThatCommandAlone) {
  const Rules rules = allowing("npm test");
  EXPECT_EQ(judged(rules, "npm test"), allow);
  EXPECT_EQ(judged(rules, "npm 'test'"), allow);
  EXPECT_EQ(judged(rules, "npm test -- --x"), ask);
  EXPECT_EQ(judged(rules, "npm"), ask);
  EXPECT_EQ(judged(allowing("python -c 'print(1)'"), "python -c \"print(1)\""), allow);
  EXPECT_EQ(judged(allowing("python -c 'print(1)'"), "python -c 'print(2)'"), ask);
}

TEST(CommandRules, EveryPartIsJudgedAndTheStrictestCounts) {
  const Rules rules({rule(allow, "Bash(echo:*)"), rule(allow, "Bash(ls:*)"), rule(ask, "Bash(git push:*)"),
                     rule(deny, "Bash(curl:*)")});
  EXPECT_EQ(judged(rules, "echo a && ls -l | echo b; ls"), allow);
  EXPECT_EQ(judged(rules, "echo a && git push"), ask);
  EXPECT_EQ(judged(rules, "echo a && cat x"), ask);
  EXPECT_EQ(judged(rules, "ls | curl x"), deny);
  EXPECT_EQ(judged(rules, "cat x; curl y"), deny);
}

TEST(CommandRules, WhatCannotBeTakenApartIsAskedAboutAtBest) {
  for (const char* command :
       {"echo $HOME", "echo `x`", "for f in a; do ls; done", "ls &", "x=1 ls", "(ls)"}) {
    EXPECT_EQ(judged(Rules({rule(allow, "Bash")}), command), ask) << command;
    EXPECT_EQ(judged(Rules(), command, allow), ask) << command;
    EXPECT_EQ(judged(Rules(), command, deny), deny) << command;
    EXPECT_EQ(judged(denying("rm:*"), command), deny) << command;
    EXPECT_EQ(judged(Rules({rule(deny, "Bash")}), command), deny) << command;
  }
  EXPECT_THAT(Rules().judge_command("echo $x", ask).reason, HasSubstr("cannot be taken apart"));
}

TEST(CommandRules, WhatIsTooLongIsDenied) {
  const Rules rules({rule(allow, "Bash")});
  EXPECT_EQ(judged(rules, "a " + std::string(kMaxShellBytes - 2, 'b')), allow);
  EXPECT_EQ(judged(rules, "a " + std::string(kMaxShellBytes - 1, 'b')), deny);
}

TEST(CommandRules, ARedirectionIsAWrite) {
  const Rules echo = allowing("echo:*");
  for (const char* command :
       {"echo x > y", "echo x >> ~/.bashrc", "echo x >> '/home/me/.bashrc'", "echo x 2> y", "echo x 1>y"}) {
    EXPECT_EQ(judged(echo, command), ask) << command;
  }
  for (const char* command :
       {"echo x > /dev/null", "echo x 2>&1", "echo x 2>/dev/null", "echo x < y", "echo x >&2"}) {
    EXPECT_EQ(judged(echo, command), allow) << command;
  }
  const Rules both({rule(allow, "Bash(echo:*)"), rule(allow, "Bash(cd:*)"), rule(allow, "Write(out/**)"),
                    rule(deny, "Write(out/x)"), rule(deny, "Edit(out/y)"), rule(deny, "Read(secret)")});
  EXPECT_EQ(judged(both, "echo x > out/a"), allow);
  EXPECT_EQ(judged(both, "echo x > /work/out/a"), allow);
  EXPECT_EQ(judged(both, "cd x && echo x > out/a"), ask);
  EXPECT_EQ(judged(both, "cd a && echo x > x/out/x"), deny);
  EXPECT_EQ(judged(both, "echo x > a"), ask);
  EXPECT_EQ(judged(both, "echo x > out/x"), deny);
  EXPECT_EQ(judged(both, "echo x > out/y"), deny);
  EXPECT_EQ(judged(both, "echo < secret"), deny);
  const Rules all({rule(allow, "Bash"), rule(deny, "Write(secret)")});
  EXPECT_EQ(judged(all, "echo x > y"), allow);
  EXPECT_EQ(judged(all, "echo x > secret"), deny);
  EXPECT_EQ(judged(all, "echo x > .git/config"), ask);
  EXPECT_EQ(judged(all, "cp x .git/hooks/post-commit"), ask);
  EXPECT_EQ(judged(all, "mv .git .git2"), ask);
  EXPECT_EQ(judged(all, "dd if=x of=.git/config"), ask);
  EXPECT_EQ(judged(all, "cp -t.git/hooks x"), ask);
  EXPECT_EQ(judged(all, "cp -vt.git/hooks x"), ask);
  EXPECT_EQ(judged(all, "cp -" + std::string(300, 'v') + "t.git/hooks x"), ask);
  EXPECT_EQ(judged(all, "cp -" + std::string(300, 'v') + "tgit/hooks x"), allow);
  EXPECT_EQ(judged(all, "dd if=x of=git/config"), allow);
}

TEST(CommandRules, AllBut) {
  const Rules rules = allowing("!git:*");
  EXPECT_EQ(judged(rules, "ls"), allow);
  EXPECT_EQ(judged(rules, "git log"), ask);
  EXPECT_EQ(judged(rules, "sudo git log"), ask);
  EXPECT_EQ(judged(rules, "sh -c 'git log'"), ask);
  EXPECT_EQ(judged(Rules({rule(deny, "Bash(!git:*)")}), "ls", allow), deny);
  EXPECT_EQ(judged(Rules({rule(deny, "Bash(!git:*)")}), "git log", allow), allow);
}

TEST(CommandRules, ARuleMustBeOnePlainCommand) {
  for (const char* text : {"Bash(git * main)", "Bash(a && b)", "Bash(a; b)", "Bash(a > b)", "Bash(echo $x:*)",
                           "Bash(x=1 a)", "Bash(for x)", "Bash(a 'b)", "Bash(a\u200b)", "Bash(* x)"}) {
    const auto parsed = parse_rule(deny, text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.error().advice.empty()) << text;
  }
}

TEST(CommandRules, TheReasonSaysWhichRuleAndHowSure) {
  EXPECT_EQ(denying("rm:*").judge_command("rm x", ask).reason, "denied by rule Bash(rm:*)");
  EXPECT_EQ(denying("rm:*").judge_command("sudo rm x", ask).reason,
            "denied by rule Bash(rm:*), which may mean it");
  EXPECT_EQ(Rules().judge_command("ls; rm x", ask).reason, "no rule allows Bash(ls)");
}

}  // namespace
}  // namespace deputy
