// Whatever prints a result prints it as JSON where that is asked for, and nothing beside it.
#include <gmock/gmock.h>

#include <sstream>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

class JsonOutputTest : public DeputyTest {
 protected:
  JsonOutputTest() {
    const auto ran = deputy({"delegate", "--model", model_, "--task", "one=look", "--output", "json"});
    const auto result = parse_json_object(ran.out);
    EXPECT_TRUE(result) << ran.out << ran.err;
    if (result) id_ = string_or(*result, "session_id", "");
  }
  // Its lines, each a document by itself.
  std::size_t documents_of(std::vector<std::string> words, const std::string& form) {
    words.insert(words.end(), {"--output", form});
    const auto ran = deputy(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::size_t count = 0;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line); ++count) {
      const auto document = parse_json(line);
      EXPECT_TRUE(document) << line;
      if (!document || form == "json") continue;
      EXPECT_TRUE(document->is_object() && document->as_object().contains("event")) << line;
      EXPECT_EQ(integer_at(document->as_object(), "v"), 1) << line;
    }
    return count;
  }
  const std::string model_ =
      script(R"({"v":1,"sessions":[{"match":{"agent":"main"},"replies":[{"text":"done"}]},
    {"replies":[{"calls":[{"name":"Note","arguments":{"content":"seen"}}]},{"text":"it is fine"}]}]})");
  std::string id_;
};

TEST_F(JsonOutputTest, EveryCommandPrintsOneDocumentOrALineForEachEvent) {
  const std::vector<std::vector<std::string>> commands{{},
                                                       {"run", "go", "--model", model_},
                                                       {"delegate", "--task", "a=b", "--model", model_},
                                                       {"task", "explore", "look", "--model", model_},
                                                       {"demo"},
                                                       {"resume"},
                                                       {"sessions", "ls"},
                                                       {"sessions", "ls", "--live"},
                                                       {"sessions", "show", id_},
                                                       {"sessions", "tree", id_},
                                                       {"sessions", "transcript", id_},
                                                       {"sessions", "notes", id_},
                                                       {"sessions", "prune", "--dry-run"},
                                                       {"sessions", "cancel", id_},
                                                       {"agents", "ls"},
                                                       {"agents", "show", "explore"},
                                                       {"agents", "check"},
                                                       {"agents", "trust"},
                                                       {"models"},
                                                       {"manual"},
                                                       {"completions", "zsh"},
                                                       {"--version"},
                                                       {"sessions", "show", "--help"}};
  for (const auto& words : commands) {
    SCOPED_TRACE(words.empty() ? "deputy" : words.front() + " " + words.back());
    EXPECT_EQ(documents_of(words, "json"), 1U);
    const bool may_be_none = !words.empty() && words.back() == "--live";  // a line for each that runs
    EXPECT_GE(documents_of(words, "stream-json"), may_be_none ? 0U : 1U);
  }
  const std::string bundle = "deputy-bundle-" + id_ + ".jsonl";
  for (const std::string form : {"json", "stream-json"}) {  // what is made is made once
    EXPECT_EQ(documents_of({"agents", "init", form == "json" ? "security" : "testing"}, form), 1U);
    EXPECT_EQ(documents_of({"doctor", "--bundle", id_}, form), 1U);
    EXPECT_EQ(documents_of({"doctor", "--replay", bundle}, form), 1U);
    std::filesystem::remove(work() / bundle);
  }
}

TEST_F(JsonOutputTest, WhatBecameOfAWishIsAnEventInAStreamAsAnErrorIs) {
  const std::vector<std::vector<std::string>> commands{
      {}, {"resume"}, {"sessions", "cancel", id_}, {"sessions", "nudge", id_, "be brief"}};
  for (auto words : commands) {
    SCOPED_TRACE(words.empty() ? "deputy" : words.front() + " " + words.back());
    words.insert(words.end(), {"--output", "stream-json"});
    const auto ran = deputy(words);
    const auto line = parse_json_object(ran.out);
    ASSERT_TRUE(line) << ran.out << ran.err;
    EXPECT_EQ(string_or(*line, "event", ""), "result");
    EXPECT_EQ(integer_at(*line, "v"), 1);
  }
}

TEST_F(JsonOutputTest, EventsAreALineEach) {
  for (const std::string view : {"tail", "export"}) {
    for (const std::string form : {"json", "stream-json"})
      EXPECT_GT(documents_of({"sessions", view, id_}, form), 3U) << view;
  }
  EXPECT_GT(documents_of({"run", "go", "--model", model_}, "stream-json"), 3U);
  EXPECT_GT(documents_of({"task", "explore", "look", "--model", model_}, "stream-json"), 3U);
}

TEST_F(JsonOutputTest, NothingToListIsAnEmptyListOrNoEvent) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"sessions", "ls"}, {"sessions", "ls", "--live"}}) {
    auto asked = words;
    asked.insert(asked.end(), {"--home", root() / "another", "--output", "json"});
    EXPECT_EQ(deputy(asked).out, "[]\n");
    asked.back() = "stream-json";
    const auto ran = deputy(asked);
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(JsonOutputTest, AModelThatCannotBeUsedIsNoErrorOfTheListAndSaysWhatToDo) {
  const auto unknown = deputy({"models", "--model", "nobody/x", "--output", "json"});
  const auto named = parse_json_object(unknown.out);
  EXPECT_EQ(unknown.status, 0) << unknown.err;
  ASSERT_TRUE(named && array_at(*named, "models") && object_at(*named, "error")) << unknown.out;
  EXPECT_NE(string_or(*object_at(*named, "error"), "hint", ""), "");
}

// A file that is cut short looks like a whole one.
TEST_F(JsonOutputTest, AResultThatCannotBeWrittenIsAFailure) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"models"},
                                                {"agents", "ls"},
                                                {"agents", "show", "explore", "--output", "json"},
                                                {"sessions", "ls"},
                                                {"sessions", "tree", id_, "--output", "json"},
                                                {"completions", "bash"},
                                                {"manual"},
                                                {"--output", "json"},
                                                {"--color", "never"},
                                                {"run", "--help"}}) {
    const auto ran =
        deputy(Start{.words = words, .through = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full"}});
    EXPECT_EQ(ran.status, 1) << words.front();
    EXPECT_THAT(ran.err, HasSubstr("cannot write the output: No space left")) << words.front();
    const auto gone = deputy(Start{.words = words, .through = {"/bin/sh", "-c", "exec \"$0\" \"$@\" | :"}});
    EXPECT_EQ(gone.err, "") << "a reader that went away is ordinary";
  }
}

TEST_F(JsonOutputTest, WhatWasTrustedIsNamed) {
  const auto ran = deputy({"agents", "trust", "--output", "json"});
  EXPECT_THAT(ran.out, HasSubstr("\"trusted\":true"));
  EXPECT_THAT(deputy({"agents", "trust", "--undo", "--output", "json"}).out, HasSubstr("\"trusted\":false"));
}

TEST_F(JsonOutputTest, WhereThereIsNoResultTheErrorIsTheDocument) {
  const std::vector<std::vector<std::string>> commands{{"resume", "sess_none"},
                                                       {"sessions", "show", "sess_none"},
                                                       {"sessions", "cancel", "sess_none"},
                                                       {"sessions", "nudge", id_, "be brief"},
                                                       {"sessions", "answer", id_, "yes"},
                                                       {"agents", "show", "nobody"}};
  for (auto words : commands) {
    SCOPED_TRACE(words[0] + " " + words.back());
    words.insert(words.end(), {"--output", "json"});
    const auto ran = deputy(words);
    EXPECT_NE(ran.status, 0);
    const auto document = parse_json_object(ran.out);
    ASSERT_TRUE(document) << ran.out << ran.err;
    ASSERT_TRUE(object_at(*document, "error"));
    EXPECT_NE(string_or(*object_at(*document, "error"), "hint", ""), "") << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
}

}  // namespace
}  // namespace deputy
