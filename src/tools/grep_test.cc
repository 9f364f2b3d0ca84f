#include "tools/grep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/rg_output.h"
#include "tools/tool_bench.h"

namespace deputy {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string match(std::string_view path, int line, std::string_view type = "match") {
  return fmt::format(
      R"({{"type":"{}","data":{{"path":{{"text":"./{}"}},"lines":{{"text":"text {}\n"}},"line_number":{},"submatches":[]}}}})"
      "\n",
      type, path, line, line);
}

class Grep : public testing::Test {
 protected:
  void make(const std::string& path) {
    const bool is_plain = !path.starts_with('/') && !path.contains("..") && !path.contains('{');
    if (is_plain && !path.empty()) bench.write(path, "");
  }
  // What ripgrep finds is there.
  void plays(std::string output, int status = 0, std::string errors = "") {
    for (auto parse : {parse_rg_json, parse_rg_counts}) {
      for (const FoundFile& file : parse(output)) make(file.path);
    }
    for (const std::string& path : parse_rg_paths(output)) make(path);
    bench.processes.define("rg", [this, output, status, errors](const ProcessSpec& spec) {
      asked = spec;
      ProcessResult result = ending;
      result.exit_status = status;
      result.output = output;
      result.errors = errors;
      return result;
    });
  }
  std::string content(std::string_view arguments, ToolStatus status = ToolStatus::ok) {
    const ToolResult result = bench.call(grep, arguments);
    EXPECT_EQ(result.status, status) << result.content;
    return result.content;
  }
  bool asked_for(const std::vector<std::string>& options) const {
    return std::ranges::search(asked.argv, options).begin() != asked.argv.end();
  }

  ToolBench bench;
  GrepTool grep;
  ProcessSpec asked;
  ProcessResult ending;
};

TEST_F(Grep, ShowsMatchesSortedByPathWithTheirNumber) {
  plays(match("b.cc", 7) + match("a.cc", 1) + match("a.cc", 3));
  EXPECT_EQ(content(R"({"pattern":"text"})"),
            "[3 matching lines in 2 files]\na.cc:1:text 1\na.cc:3:text 3\nb.cc:7:text 7\n");
}

TEST_F(Grep, PartsBlocksOfContext) {
  plays(match("a", 1) + match("a", 2, "context") + match("a", 8, "context") + match("a", 9) + match("b", 10));
  EXPECT_EQ(content(R"({"pattern":"x","context":1})"),
            "[3 matching lines in 2 files]\na:1:text 1\na-2-text 2\n--\na-8-text 8\na:9:text "
            "9\n--\nb:10:text 10\n");
  EXPECT_TRUE(asked_for({"--context", "1"}));
}

TEST_F(Grep, RunsRipgrepInTheWorkspaceWithEverythingFromTheModelAsData) {
  plays("", 1);
  content(R"({"pattern":"--pre=./x.sh","path":".","case_insensitive":true})");
  EXPECT_EQ(asked.argv[0], "rg");
  EXPECT_EQ(asked.argv[1], "--no-config");
  EXPECT_TRUE(asked_for({"--ignore-case"}));
  EXPECT_TRUE(asked_for({"-e", "--pre=./x.sh", "--", "./"}));
  EXPECT_EQ(asked.folder, bench.workspace.get());
  EXPECT_TRUE(asked.environment.empty());
  bench.write("-", "");
  content(R"({"pattern":"x","path":"-"})");
  EXPECT_TRUE(asked_for({"--", "./-"}));
}

TEST_F(Grep, ListsFilesOrCountsLines) {
  plays(std::string("./b\0./a\0"sv));
  EXPECT_EQ(content(R"({"pattern":"x","output_mode":"files_with_matches"})"), "[2 files]\na\nb\n");
  plays(
      std::string("./b\0"
                  "2\n./a\0"
                  "1\n"sv));
  EXPECT_EQ(content(R"({"pattern":"x","output_mode":"count"})"), "[3 matching lines in 2 files]\na:1\nb:2\n");
}

TEST_F(Grep, NoMatchSaysWhatWasSearched) {
  plays("", 1);
  bench.write("src/a", "");
  EXPECT_THAT(
      content(R"({"pattern":"needle","path":"src","glob":"*.cc"})"),
      AllOf(HasSubstr("No matches for needle in src, files *.cc."), HasSubstr("Hidden and ignored files")));
}

TEST_F(Grep, ABadPatternComesBackWithWhatRipgrepSaidAndHowToMendIt) {
  plays("", 2, "regex parse error:\n    (\n    ^\nerror: unclosed group\n");
  EXPECT_THAT(content(R"({"pattern":"("})", ToolStatus::error),
              AllOf(HasSubstr("unclosed group"), HasSubstr("backslash")));
}

TEST_F(Grep, WhatCouldNotBeSearchedIsSaidBesideTheMatches) {
  plays(match("a", 1), 2, "./b: Permission denied (os error 13)\n");
  EXPECT_THAT(content(R"({"pattern":"x"})"), AllOf(HasSubstr("a:1:"), HasSubstr("./b: Permission denied")));
}

TEST_F(Grep, ASearchThatTookTooLongOrFoundTooMuchSaysSo) {
  ending.timed_out = true;
  plays(match("a", 1), 137);
  EXPECT_THAT(content(R"({"pattern":"x"})"), AllOf(HasSubstr("a:1:"), HasSubstr("ended after 30 s")));
  plays("", 137);
  EXPECT_THAT(content(R"({"pattern":"x"})", ToolStatus::error), HasSubstr("narrow it"));
  ending = {.cut = true};
  plays(match("a", 1));
  EXPECT_THAT(content(R"({"pattern":"x"})"), HasSubstr("more than could be taken in"));
}

TEST_F(Grep, WithoutRipgrepItSaysWhatIsMissing) {
  EXPECT_THAT(content(R"({"pattern":"x"})", ToolStatus::error),
              HasSubstr("ripgrep (rg), which is not installed"));
}

TEST_F(Grep, AFileThatIsALinkByNowIsWithheld) {
  plays(match("a", 1) + match("b", 2) + match("gone", 3));
  bench.write("secrets/key", "");
  for (const char* name : {"a", "gone"}) ASSERT_TRUE(bench.workspace->remove(name));
  bench.disk.plant_link("/work/a", "secrets/key");
  EXPECT_EQ(content(R"({"pattern":"x"})"),
            "[1 matching line in 1 file]\nb:2:text 2\n[2 files withheld by permission rules]\n");
}

TEST_F(Grep, AStoppedSearchIsAnError) {
  plays(match("a", 1));
  StopSource source;
  source.request(StopReason::user);
  bench.stop = source.token();
  EXPECT_EQ(content(R"({"pattern":"x"})", ToolStatus::error), "The search was stopped.");
}

TEST_F(Grep, NothingOutsideTheWorkspaceOrKeptBackByRulesIsShown) {
  plays(match("../x", 1) + match("a/.env", 2) + match("a/b", 3) +
        R"({"type":"match","data":{"path":{"text":"/etc/passwd"},"lines":{"text":"root"},"line_number":1}})");
  bench.session.permissions = Rules({Rule{Decision::deny, "Read", "a/.env"}}).to_json();
  const std::string text = content(R"({"pattern":"x","glob":"{**/.env,**}"})");
  EXPECT_THAT(text, AllOf(StartsWith("[1 matching line in 1 file]\na/b:3:"), HasSubstr("withheld"),
                          Not(HasSubstr("root")), Not(HasSubstr("text 2")), Not(HasSubstr("text 1"))));
}

TEST_F(Grep, HiddenFilesAreSearchedOnlyWhereTheyAreNamed) {
  plays(match(".github/a", 1) + match("b", 2) + match("src/.c", 3));
  EXPECT_EQ(content(R"({"pattern":"x"})"), "[1 matching line in 1 file]\nb:2:text 2\n");
  EXPECT_FALSE(asked_for({"--hidden"}));
  EXPECT_EQ(content(R"({"pattern":"x","glob":".github/**"})"),
            "[1 matching line in 1 file]\n.github/a:1:text 1\n");
  EXPECT_TRUE(asked_for({"--hidden", "--glob", "!.git"}));
}

TEST_F(Grep, AGlobIsMeantAtAnyDepthUnlessItHasASlash) {
  plays(match("a.cc", 1) + match("src/b.cc", 2) + match("src/c.h", 3));
  EXPECT_THAT(content(R"({"pattern":"x","glob":"*.cc"})"),
              AllOf(HasSubstr("a.cc:1"), HasSubstr("src/b.cc:2"), Not(HasSubstr("c.h"))));
  EXPECT_TRUE(asked_for({"--type-add", "meant:*.cc", "--type", "meant"}));
  EXPECT_THAT(content(R"({"pattern":"x","glob":"src/*.{cc,h}"})"),
              AllOf(Not(HasSubstr("a.cc:1")), HasSubstr("c.h:3")));
  EXPECT_TRUE(asked_for({"--type-add", "meant:*.cc", "--type-add", "meant:*.h", "--type", "meant"}));
  EXPECT_THAT(content(R"({"pattern":"x","glob":"/work/src/**"})"),
              AllOf(Not(HasSubstr("a.cc:1")), HasSubstr("c.h:3")));
  EXPECT_FALSE(asked_for({"--type-add"}));
  EXPECT_THAT(content(R"({"pattern":"x","glob":"/etc/*"})", ToolStatus::error),
              HasSubstr("outside the workspace"));
  EXPECT_THAT(content(R"({"pattern":"x","glob":"[a"})", ToolStatus::error), HasSubstr("[ without ]"));
}

TEST_F(Grep, HeadLimitIsKeptAndSaid) {
  plays(match("a", 1) + match("a", 2) + match("a", 3));
  EXPECT_THAT(content(R"({"pattern":"x","head_limit":3})"),
              AllOf(HasSubstr("a:3:"), Not(HasSubstr("raise"))));
  EXPECT_THAT(
      content(R"({"pattern":"x","head_limit":2})"),
      AllOf(StartsWith("[3 matching lines in 1 file; the first 2 rows follow"), Not(HasSubstr("a:3:"))));
  std::string many;
  for (int i = 1; i <= 251; ++i) many += match("a", i);
  plays(many);
  EXPECT_THAT(content(R"({"pattern":"x"})"),
              AllOf(HasSubstr("a:250:"), Not(HasSubstr("a:251:")), HasSubstr("first 250 rows")));
}

TEST_F(Grep, ALongResultKeepsItsHeadAndTail) {
  std::string many;
  for (int i = 1; i <= 5000; ++i) many += match("some/path", i);
  plays(many);
  bench.write("some/path", "");
  const std::string text = content(R"({"pattern":"x","head_limit":5000})");
  EXPECT_LE(text.size(), grep.most_result_bytes());
  EXPECT_THAT(text, AllOf(StartsWith("[5,000 matching lines in 1 file]\n"), HasSubstr("path:1:"),
                          HasSubstr("left out"), HasSubstr("path:5000:")));
}

TEST_F(Grep, MistakesInThePathSayWhatToDo) {
  bench.write("src/a", "");
  EXPECT_THAT(content(R"({"pattern":"x","path":"scr"})", ToolStatus::error), HasSubstr("Did you mean src?"));
  EXPECT_THAT(content(R"({"pattern":"x","path":"/etc"})", ToolStatus::error),
              HasSubstr("outside the workspace"));
  plays("", 1);
  EXPECT_THAT(content(R"({"pattern":"a\u0000b"})", ToolStatus::error), HasSubstr("NUL"));
}

TEST_F(Grep, IsShownByPatternAndPath) {
  EXPECT_EQ(grep.shown(*parse_json_object(R"({"pattern":"a b","path":"src"})")), "a b in src");
  EXPECT_EQ(grep.path(*parse_json_object(R"({"pattern":"a"})")), ".");
}

}  // namespace
}  // namespace deputy
