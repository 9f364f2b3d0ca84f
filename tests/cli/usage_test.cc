// What a person types wrongly costs nothing: a clear line, status 2, and nothing is written anywhere.
#include <gmock/gmock.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class UsageTest : public DeputyTest {
 protected:
  void expect_refused(const Start& start, std::string_view said) {
    const auto ran = deputy(start);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("deputy: "), HasSubstr(std::string(said))));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_THAT(files_below(home()), IsEmpty());
    EXPECT_THAT(files_below(work()), IsEmpty());
  }
  void expect_refused(std::vector<std::string> words, std::string_view said) {
    expect_refused(Start{.words = std::move(words)}, said);
  }
};

TEST_F(UsageTest, UnknownFlagsAndCommands) {
  expect_refused({"demo", "--colour"}, "--colour");
  expect_refused({"--bogus"}, "--bogus");
  expect_refused({"frobnicate"}, "frobnicate");
  expect_refused({"delegate", "--task", "a=b", "--output", "yaml"}, "yaml");
  expect_refused({"delegate", "--task", "a=b", "--max-depth", "-1"}, "--max-depth");
}

TEST_F(UsageTest, WhatTheParserRefusesIsSaidInOurWords) {
  expect_refused({"run", "x", "--output", "json", "--output", "text"},
                 "--output was given 2 times, and can hold once; leave all of them out but one\n");
  expect_refused({"run", "--model"}, "--model has no value; write --model MODEL");
  expect_refused({"sessions"}, "'sessions' needs one of its commands: ls, ");
  expect_refused({"task"}, "'task' needs the argument 'agent'");
  expect_refused({"models", "--yes=perhaps"}, "--yes takes no value");
}

TEST_F(UsageTest, WhatIsRefusedSaysWhatToDoInstead) {
  expect_refused({"delegate", "--task", "a=b", "--file", "x"},
                 "--task and --file were both given; leave one of them out\n");
  expect_refused({"run", "x", "--model", "openai/a b"}, "; `deputy models` lists those that are known\n");
}

// `deputy sessions prune "$ID"` with a variable that is not set removes nothing.
TEST_F(UsageTest, EmptyNames) {
  expect_refused({"sessions", "prune", ""}, "id is ''");
  expect_refused({"agents", "check", ""}, "file is ''");
  expect_refused({"sessions", "ls", "--home", ""}, "--home is ''");
  expect_refused({"run", "x", "--cwd", ""}, "--cwd is ''");
  expect_refused({"run", "x", "--model", ""}, "--model is ''");
}

// What was piped into it would be lost in silence.
TEST_F(UsageTest, AChatThatHasNoTerminal) {
  expect_refused(Start{.words = {"chat"}, .input = "fix it\n"}, "`deputy run PROMPT`");
  EXPECT_EQ(deputy(Start{.words = {}, .input = "fix it\n"}).status, 0) << "alone it says what there is";
}

TEST_F(UsageTest, AProgramThatReadsJsonReadsTheMistakeToo) {
  for (const std::string form : {"json", "stream-json"}) {
    for (const auto& words :
         {std::vector<std::string>{"run", "--bogus"}, {"run", ""}, {"task", "nobody", "x"}}) {
      auto asked = words;
      asked.insert(asked.end(), {"--output", form});
      const auto ran = deputy(asked);
      EXPECT_EQ(ran.status, 2);
      EXPECT_THAT(ran.err, StartsWith("deputy: "));
      const auto document = parse_json_object(ran.out);
      ASSERT_TRUE(document) << ran.out;
      EXPECT_EQ(string_or(*document, "status", ""), "usage");
      EXPECT_EQ(string_or(*document, "event", ""), form == "json" ? "" : "result");
      const auto* error = object_at(*document, "error");
      ASSERT_TRUE(error);
      EXPECT_EQ(string_or(*error, "code", ""), words.front() == "task" ? "not_found" : "invalid");
      EXPECT_NE(string_or(*error, "message", ""), "");
      EXPECT_NE(string_or(*error, "hint", ""), "");
    }
  }
}

TEST_F(UsageTest, WhatIsNamedAndNotThereIsNotFound) {
  for (const auto& words : {std::vector<std::string>{"agents", "show", "nosuch"},
                            {"agents", "show", "two\nlines"},
                            {"agents", "check", "nosuch.md"},
                            {"agents", "init", "nosuch"},
                            {"task", "nosuch", "x"},
                            {"task", "explore", "x", "--resume", "nosuch"},
                            {"run", "x", "--cwd", "nosuch"},
                            {"run", "x", "--model", "scripted/nosuch.json"},
                            {"delegate", "--file", "nosuch.json"},
                            {"doctor", "--bundle", "nosuch"},
                            {"doctor", "--replay", "nosuch.jsonl"},
                            {"resume", "nosuch"},
                            {"sessions", "show", "nosuch"},
                            {"sessions", "tree", "nosuch"},
                            {"sessions", "tail", "nosuch"},
                            {"sessions", "transcript", "nosuch"},
                            {"sessions", "notes", "nosuch"},
                            {"sessions", "export", "nosuch"},
                            {"sessions", "cancel", "nosuch"},
                            {"sessions", "answer", "nosuch", "yes"},
                            {"sessions", "nudge", "nosuch", "yes"},
                            {"sessions", "prune", "nosuch"}}) {
    SCOPED_TRACE(words[0] + " " + words[1]);
    auto asked = words;
    asked.insert(asked.end(), {"--output", "json"});
    const auto ran = deputy(asked);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    const auto document = parse_json_object(ran.out);
    ASSERT_TRUE(document && object_at(*document, "error")) << ran.out;
    EXPECT_EQ(string_or(*object_at(*document, "error"), "code", ""), "not_found");
    EXPECT_NE(string_or(*object_at(*document, "error"), "hint", ""), "");
  }
}

TEST_F(UsageTest, EmptyPrompts) {
  expect_refused({"delegate", "--task", "a="}, "empty");
  expect_refused({"delegate"}, "nothing to delegate");
  expect_refused({"run", ""}, "empty");
  expect_refused({"run"}, "empty");  // stdin is empty too
}

TEST_F(UsageTest, APromptOfFiveMegabytes) {
  const std::string large(5'000'000, 'x');
  expect_refused({.words = {"run"}, .input = large}, "larger than 1,048,576 bytes");
  expect_refused({.words = {"delegate", "--file", "-"},
                  .input = R"({"tasks":[{"label":"a","prompt":")" + large + "\"}]}"},
                 "5,000,000 bytes");
}

TEST_F(UsageTest, InvalidUtf8) {
  expect_refused({"run", "\xff\xfe"}, "UTF-8");
  expect_refused({"delegate", "--task", "a=\xc3"}, "UTF-8");
  expect_refused({"delegate", "--task", "\xc3=a"}, "UTF-8");
  expect_refused({.words = {"run"}, .input = "caf\xe9"}, "UTF-8");
  expect_refused(
      {.words = {"delegate", "--file", "-"}, .input = "{\"tasks\":[{\"label\":\"a\",\"prompt\":\"\xe9\"}]}"},
      "not valid");
}

TEST_F(UsageTest, NineTasksAndLongLabels) {
  std::vector<std::string> words{"delegate"};
  for (int i = 0; i < 9; ++i) words.insert(words.end(), {"--task", "a=b"});
  expect_refused(words, "at most 8");
  expect_refused({"delegate", "--task", std::string(33, 'l') + "=b"}, "32");
  expect_refused({"delegate", "--task", "no equals sign"}, "LABEL=PROMPT");
  expect_refused({"delegate", "--task", "a=b", "--concurrency", "9"}, "concurrency");
}

TEST_F(UsageTest, UnknownModelsAndFolders) {
  expect_refused({"run", "--model", "nobody/x", "hello"}, "nobody");
  expect_refused({.words = {"run", "hello"}, .environment = {{"DEPUTY_MODEL", "nobody"}}}, "nobody");
  expect_refused({"run", "--model", "scripted/none.json", "hello"}, "none.json");
  expect_refused({"run", "--cwd", "nowhere", "hello"}, "nowhere");
  expect_refused({"delegate", "--file", "none.json"}, "none.json");
}

TEST_F(UsageTest, AFolderThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read every folder";
  std::filesystem::permissions(work(), std::filesystem::perms::none);
  const auto ran = deputy({.words = {"run", "--cwd", work(), "hello"}, .current = root()});
  std::filesystem::permissions(work(), std::filesystem::perms::owner_all);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr(work().string()), HasSubstr("Permission denied")));
  EXPECT_THAT(files_below(home()), IsEmpty());
}

TEST_F(UsageTest, HelpVersionAndNothingAtAll) {
  EXPECT_THAT(deputy({"--version"}).out, ::testing::MatchesRegex("deputy [0-9.]+\n"));
  EXPECT_EQ(deputy({"--version"}).status, 0);
  EXPECT_THAT(deputy({"delegate", "--help"}).out, HasSubstr("Example:"));
  const auto alone = deputy(std::vector<std::string>{});
  EXPECT_EQ(alone.status, 0);
  EXPECT_THAT(alone.out, AllOf(HasSubstr("deputy demo"), HasSubstr("deputy --help")));
  EXPECT_THAT(files_below(home()), IsEmpty());
}

TEST_F(UsageTest, ModelsAreListedHonestly) {
  const auto ran = deputy({"models"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("not a language model"), HasSubstr("scripted/FILE")));
}

}  // namespace
}  // namespace deputy
