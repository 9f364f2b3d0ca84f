#include "tools/glob.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/tool_bench.h"

namespace deputy {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GlobCall : public testing::Test {
 protected:
  void plays(std::string_view output, int status = 0) {
    bench.processes.define("rg", [this, output = std::string(output), status](const ProcessSpec& spec) {
      asked = spec;
      return ProcessResult{.exit_status = status, .output = output};
    });
  }
  std::string content(std::string_view arguments, ToolStatus status = ToolStatus::ok) {
    const ToolResult result = bench.call(glob, arguments);
    EXPECT_EQ(result.status, status) << result.content;
    return result.content;
  }

  ToolBench bench;
  GlobTool glob;
  ProcessSpec asked;
};

TEST_F(GlobCall, ListsMatchingFilesSortedByPath) {
  plays("./src/b.cc\0./a.cc\0./src/c.h\0"sv);
  EXPECT_EQ(content(R"({"pattern":"*.cc"})"), "[2 files]\na.cc\nsrc/b.cc\n");
  EXPECT_EQ(content(R"({"pattern":"src/*"})"), "[2 files]\nsrc/b.cc\nsrc/c.h\n");
  EXPECT_EQ(content(R"({"pattern":"**/*.{h,hpp}"})"), "[1 file]\nsrc/c.h\n");
}

TEST_F(GlobCall, ThePatternIsRelativeToThePathOrToTheWorkspace) {
  bench.write("src/lib/a.cc", "");
  plays("./src/lib/a.cc\0"sv);
  EXPECT_EQ(content(R"({"pattern":"lib/*.cc","path":"src"})"), "[1 file]\nsrc/lib/a.cc\n");
  EXPECT_EQ(asked.argv.back(), "./src");
  EXPECT_EQ(content(R"({"pattern":"src/lib/*.cc","path":"/work/src"})"), "[1 file]\nsrc/lib/a.cc\n");
}

TEST_F(GlobCall, LetsRipgrepLeaveOutWhatCannotBeMeant) {
  plays("./a.cc\0"sv);
  content(R"({"pattern":"src/**/*.cc"})");
  EXPECT_THAT(asked.argv, testing::IsSupersetOf({"--type-add", "meant:*.cc", "--type", "meant", "--files"}));
  content(R"({"pattern":"src/**"})");
  EXPECT_THAT(asked.argv, Not(testing::Contains("--type")));
}

TEST_F(GlobCall, HiddenFilesAreFoundOnlyWhereTheyAreNamed) {
  plays("./.github/ci.yml\0./a.yml\0./.env\0"sv);
  EXPECT_EQ(content(R"({"pattern":"**/*.yml"})"), "[1 file]\na.yml\n");
  EXPECT_EQ(content(R"({"pattern":".github/**"})"), "[1 file]\n.github/ci.yml\n");
  EXPECT_EQ(content(R"({"pattern":".env"})"), "[1 file]\n.env\n");
}

TEST_F(GlobCall, NothingFoundIsSaidAndIsNoError) {
  plays("", 1);
  EXPECT_EQ(content(R"({"pattern":"*.xyz"})"), "No files match *.xyz in the workspace.\n");
}

TEST_F(GlobCall, NothingOutsideTheWorkspaceOrKeptBackByRulesIsShown) {
  plays("./../x\0/etc/passwd\0./a/secret\0./b\0./new\nline\0"sv);
  bench.session.permissions = Rules({Rule{Decision::ask, "Read", "a/"}}).to_json();
  EXPECT_EQ(content(R"({"pattern":"**"})"),
            "[2 files]\nb\nnew␊line\n[3 files withheld by permission rules]\n");
}

TEST_F(GlobCall, ALongListKeepsItsHeadAndTail) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += fmt::format("./f/{:05}", i) + '\0';
  plays(many);
  const std::string text = content(R"({"pattern":"**"})");
  EXPECT_LE(text.size(), glob.most_result_bytes());
  EXPECT_THAT(text,
              AllOf(StartsWith("[5,000 files]\nf/00000\n"), HasSubstr("left out"), HasSubstr("f/04999\n")));
}

TEST_F(GlobCall, MistakesSayWhatToDo) {
  bench.write("src/a", "");
  EXPECT_THAT(content(R"({"pattern":"*","path":"src/a"})", ToolStatus::error), HasSubstr("is a file"));
  EXPECT_THAT(content(R"({"pattern":"*","path":"scr"})", ToolStatus::error), HasSubstr("Did you mean src?"));
  EXPECT_THAT(content(R"({"pattern":"{a"})", ToolStatus::error), HasSubstr("{ without }"));
  EXPECT_THAT(content(R"({"pattern":"/etc/*"})", ToolStatus::error), HasSubstr("outside the workspace"));
  EXPECT_THAT(content(R"({"pattern":"../*"})", ToolStatus::error), HasSubstr("outside the workspace"));
}

}  // namespace
}  // namespace deputy
