#include "guard/shell.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const SimpleCommand& command) {
  std::vector<std::string> out;
  for (const ShellWord& word : command.words) out.push_back(word.text);
  return out;
}

std::vector<std::string> words(std::string_view command) {
  const ShellReading reading = read_shell(command);
  EXPECT_TRUE(reading) << command << ": " << (reading ? "" : reading.error().why);
  if (!reading || reading->size() != 1) return {};
  return texts(reading->front());
}

bool is_opaque(std::string_view command) { return !read_shell(command).has_value(); }

TEST(Shell, WordsAreThoseThatTheShellWouldPassOn) {
  EXPECT_THAT(words("git status"), ElementsAre("git", "status"));
  EXPECT_THAT(words("  git\t status  \n"), ElementsAre("git", "status"));
  EXPECT_THAT(words("echo 'a b' \"c d\" e\\ f"), ElementsAre("echo", "a b", "c d", "e f"));
  EXPECT_THAT(words("'to''uch' x"), ElementsAre("touch", "x"));
  EXPECT_THAT(words("\\rm x"), ElementsAre("rm", "x"));
  EXPECT_THAT(words("\"r\"m x"), ElementsAre("rm", "x"));
  EXPECT_THAT(words("echo '' \"\""), ElementsAre("echo", "", ""));
  EXPECT_THAT(words(R"(echo "a\"b\\c\$d\`e\f" '\n')"), ElementsAre("echo", R"(a"b\c$d`e\f)", R"(\n)"));
  EXPECT_THAT(words("echo a'b'\"c\"d"), ElementsAre("echo", "abcd"));
  EXPECT_THAT(words("echo 'a\nb'"), ElementsAre("echo", "a\nb"));
  EXPECT_THAT(words("echo a \\\n  b"), ElementsAre("echo", "a", "b"));
  EXPECT_THAT(words("echo \"a\\\nb\""), ElementsAre("echo", "ab"));
  EXPECT_THAT(
      words("echo a#b if HEAD~1 x=1 {} -I{} 50% a!b stash@{0} @{u}"),
      ElementsAre("echo", "a#b", "if", "HEAD~1", "x=1", "{}", "-I{}", "50%", "a!b", "stash@{0}", "@{u}"));
  EXPECT_THAT(words("[ -f x ]"), ElementsAre("[", "-f", "x", "]"));
  EXPECT_THAT(words("git commit -m 'Grüße, 世界'"), ElementsAre("git", "commit", "-m", "Grüße, 世界"));
}

TEST(Shell, CommandsAreKeptApart) {
  const ShellReading reading = read_shell("a | b && c || d; e\n\nf;");
  ASSERT_TRUE(reading);
  std::vector<Joint> joints;
  for (const SimpleCommand& command : *reading) joints.push_back(command.joint);
  using enum Joint;
  EXPECT_THAT(joints, ElementsAre(then, pipe, if_done, if_failed, then, then));
  EXPECT_THAT(texts(reading->at(5)), ElementsAre("f"));
  EXPECT_EQ(read_shell("a &&\n\n b")->size(), 2U);
  EXPECT_EQ(read_shell("a|b")->size(), 2U);
}

TEST(Shell, RedirectionsAreTakenOut) {
  const ShellReading reading = read_shell("echo a 2 >out 2>&1 <in 2>>'log file' 3> x");
  ASSERT_TRUE(reading) << reading.error().why;
  using enum Redirection::Kind;
  EXPECT_THAT(texts(reading->front()), ElementsAre("echo", "a", "2"));
  EXPECT_THAT(
      reading->front().redirections,
      ElementsAre(Redirection{write, 1, "out"}, Redirection{duplicate, 2, "1"}, Redirection{read, 0, "in"},
                  Redirection{append, 2, "log file"}, Redirection{write, 3, "x"}));
  EXPECT_THAT(texts(read_shell(">x echo a2>b")->front()), ElementsAre("echo", "a2"));
}

TEST(Shell, WhatFilesAndPeopleDecideIsMarked) {
  for (const char* command : {"ls *.cc", "ls ?", "ls [ab]", "ls ~/x", "ls ~", "make PREFIX=~/x", "a b:~c"}) {
    const ShellReading reading = read_shell(command);
    ASSERT_TRUE(reading) << command;
    EXPECT_TRUE(reading->front().words.back().varies) << command;
  }
  for (const char* command : {"ls '*'", "ls \\*", "ls HEAD~1", "ls '~'", "test ["}) {
    const ShellReading reading = read_shell(command);
    ASSERT_TRUE(reading) << command;
    EXPECT_FALSE(reading->front().words.back().varies) << command;
  }
}

TEST(Shell, EverythingElseIsOpaque) {
  for (const std::string_view command : std::initializer_list<std::string_view>{"",
                                                                                " ",
                                                                                "\n",
                                                                                ";",
                                                                                "; a",
                                                                                "a &&",
                                                                                "a ||",
                                                                                "a |",
                                                                                "| a",
                                                                                "a && ; b",
                                                                                "a ;; b",
                                                                                "a &",
                                                                                "a & b",
                                                                                "&",
                                                                                "a |& b",
                                                                                "echo $x",
                                                                                "echo ${x}",
                                                                                "echo $(x)",
                                                                                "echo `x`",
                                                                                "echo \"$x\"",
                                                                                "echo \"`x`\"",
                                                                                "echo $'a'",
                                                                                "echo $\"a\"",
                                                                                "echo $((1))",
                                                                                "a <(b)",
                                                                                "a >(b)",
                                                                                "a << b",
                                                                                "a <<< b",
                                                                                "a <> b",
                                                                                "a >| b",
                                                                                "a &> b",
                                                                                "a >& b",
                                                                                "a <& 3",
                                                                                "a >&-",
                                                                                "a 10>b",
                                                                                "a >",
                                                                                "a > && b",
                                                                                "> a",
                                                                                "a > *",
                                                                                "a > ~/b",
                                                                                "a > /dev/tcp/h/1",
                                                                                "a < /dev/udp/h/1",
                                                                                "(a)",
                                                                                "a (b)",
                                                                                "a()",
                                                                                "{ a; }",
                                                                                "a {b,c}",
                                                                                "a {1..3}",
                                                                                "a b}",
                                                                                "a {{},c}",
                                                                                "a {b}{c,d}",
                                                                                "a {b{c},d}",
                                                                                "a {b},c}",
                                                                                "a {fd}>x",
                                                                                "a {fd}<x",
                                                                                "if a",
                                                                                "while a",
                                                                                "for x in y",
                                                                                "case x",
                                                                                "function f",
                                                                                "select x",
                                                                                "until a",
                                                                                "time a",
                                                                                "coproc a",
                                                                                "[[ a ]]",
                                                                                "! a",
                                                                                "do",
                                                                                "done",
                                                                                "'if' x",
                                                                                "x=1",
                                                                                "x=1 a",
                                                                                "a=b c",
                                                                                "x+=1 a",
                                                                                "x[0]=1 a",
                                                                                "*",
                                                                                "./*.sh a",
                                                                                "~/a",
                                                                                "? a",
                                                                                "''",
                                                                                "'' a",
                                                                                "# a",
                                                                                "a # b",
                                                                                "a '",
                                                                                "a \"",
                                                                                "a 'b",
                                                                                "a \"b",
                                                                                "a \\",
                                                                                "a\\\nb",
                                                                                "2\\\n>b",
                                                                                "a \"b*\"*",
                                                                                "a '~'/*",
                                                                                "a \\**",
                                                                                "a\rb",
                                                                                "a\x1b[0m",
                                                                                "a \x7f",
                                                                                "a '\t'",
                                                                                "a \\\t",
                                                                                "a \"\t\"",
                                                                                "a\v",
                                                                                std::string_view("a\0b", 3),
                                                                                "a \xff",
                                                                                "a \u00a0b",
                                                                                "a \u200b",
                                                                                "a \u202e",
                                                                                "a \u2028b",
                                                                                "a \u3000",
                                                                                "a \u2800",
                                                                                "a \ufeff",
                                                                                "rm\u0301 x",
                                                                                "r\u043c x",
                                                                                "a 'b\nc' |",
                                                                                "'a\nb'"}) {
    EXPECT_TRUE(is_opaque(command)) << command;
  }
}

TEST(Shell, SaysWhy) {
  EXPECT_THAT(read_shell("echo $HOME").error().why, HasSubstr("$"));
  EXPECT_THAT(read_shell("FOO=1 make").error().why, HasSubstr("sets a variable"));
  EXPECT_EQ(read_shell("for x in y").error().why, "'for' is a word of the shell's own language");
  EXPECT_THAT(read_shell("echo 'a").error().why, HasSubstr("not closed"));
  EXPECT_THAT(read_shell("a\u202e").error().why, HasSubstr("cannot be seen"));
}

TEST(Shell, TakesCommandsUpToItsLimits) {
  EXPECT_TRUE(read_shell("a " + std::string(kMaxShellBytes - 2, 'b')));
  EXPECT_EQ(read_shell("a " + std::string(kMaxShellBytes - 1, 'b')).error().kind, Opaque::Kind::too_long);
  std::string many = "a";
  for (std::size_t count = 1; count < kMaxShellCommands; ++count) many += "; a";
  EXPECT_EQ(read_shell(many + "; \n")->size(), kMaxShellCommands);
  EXPECT_EQ(read_shell(many + "; a").error().kind, Opaque::Kind::too_long);
}

}  // namespace
}  // namespace deputy
