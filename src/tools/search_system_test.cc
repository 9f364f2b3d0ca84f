// Grep, Glob, Read and List on a real folder, with the real ripgrep under deputy-init.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/glob.h"
#include "tools/grep.h"
#include "tools/list.h"
#include "tools/read.h"
#include "tools/real_bench.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RealWorkspace : public RealBench {
 protected:
  RealWorkspace() {
    write("out/canary.txt", "CANARY outside\n");
    write("ws/src/a.cc", "int main() { return 0; }\n// hello\n");
    write("ws/src/b.txt", "hello \xff there\n");
    write("ws/.gitignore", "build\n*.log\n");
    write("ws/build/gen.cc", "hello\n");
    write("ws/trace.log", "hello\n");
    write("ws/.git/config", "hello\n");
    write("ws/.github/ci.yml", "hello: 1\n");
    write("ws/-", "hello dash\n");
    write("ws/new\nline.cc", "hello newline\n");
    std::filesystem::create_symlink("../out", root / "ws/o");
    std::filesystem::create_symlink("../out/canary.txt", root / "ws/link.txt");
  }

  void write(const std::string& path, std::string_view bytes) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << bytes;
  }

  ToolResult call(Tool& tool, std::string_view arguments) {
    return ToolBench::call(loop, tool, arguments, context());
  }
  std::string ok(Tool& tool, std::string_view arguments) {
    const ToolResult result = call(tool, arguments);
    EXPECT_EQ(result.status, ToolStatus::ok) << result.content;
    return result.content;
  }
  std::string error(Tool& tool, std::string_view arguments) {
    const ToolResult result = call(tool, arguments);
    EXPECT_EQ(result.status, ToolStatus::error) << result.content;
    return result.content;
  }

  const std::filesystem::path root = temp.path();
  GrepTool grep;
  GlobTool glob;
  ReadTool read;
  ListTool list;
};

TEST_F(RealWorkspace, GrepFindsLinesAndSkipsWhatIsIgnoredOrHidden) {
  EXPECT_EQ(
      ok(grep, R"({"pattern":"hello"})"),
      "[4 matching lines in 4 files]\n-:1:hello dash\nnew␊line.cc:1:hello newline\nsrc/a.cc:2:// hello\n"
      "src/b.txt:1:hello \uFFFD there\n");
  EXPECT_EQ(ok(grep, R"({"pattern":"hello","path":".github"})"),
            "[1 matching line in 1 file]\n.github/ci.yml:1:hello: 1\n");
  EXPECT_EQ(ok(grep, R"({"pattern":"hello","path":"-"})"), "[1 matching line in 1 file]\n-:1:hello dash\n");
}

TEST_F(RealWorkspace, GrepKeepsIgnoredFilesOutWhateverTheGlob) {
  for (const char* globbed : {"**", "*", "**/*", "*.cc", "{src,build}/**"}) {
    EXPECT_THAT(ok(grep, R"({"pattern":"hello","glob":")" + std::string(globbed) + "\"}"),
                AllOf(HasSubstr("src/a.cc"), Not(HasSubstr("build/")), Not(HasSubstr(".git"))))
        << globbed;
  }
  EXPECT_THAT(ok(grep, R"({"pattern":"hello","glob":"*.cc"})"), Not(HasSubstr("b.txt")));
}

TEST_F(RealWorkspace, GrepCountsAndListsFiles) {
  EXPECT_EQ(ok(grep, R"({"pattern":"HELLO","case_insensitive":true,"path":"src","output_mode":"count"})"),
            "[2 matching lines in 2 files]\nsrc/a.cc:1\nsrc/b.txt:1\n");
  EXPECT_EQ(ok(grep, R"({"pattern":"main|there","output_mode":"files_with_matches"})"),
            "[2 files]\nsrc/a.cc\nsrc/b.txt\n");
}

TEST_F(RealWorkspace, NoSearchLeavesTheWorkspace) {
  EXPECT_THAT(ok(grep, R"({"pattern":"CANARY"})"), HasSubstr("No matches"));
  EXPECT_THAT(error(grep, R"({"pattern":"CANARY","path":"o"})"), HasSubstr("outside"));
  EXPECT_THAT(error(grep, R"({"pattern":"CANARY","path":"link.txt"})"), HasSubstr("outside"));
  EXPECT_THAT(error(grep, R"({"pattern":"CANARY","path":"../out"})"), HasSubstr("outside"));
  EXPECT_THAT(ok(glob, R"({"pattern":"**/canary.txt"})"), HasSubstr("No files match"));
  EXPECT_THAT(error(read, R"({"file_path":"link.txt"})"), HasSubstr("outside"));
  EXPECT_THAT(error(read, R"({"file_path":"o/canary.txt"})"), HasSubstr("outside"));
}

TEST_F(RealWorkspace, APatternIsDataAndABadOneIsExplained) {
  EXPECT_THAT(ok(grep, R"({"pattern":"--files"})"), HasSubstr("No matches for --files"));
  EXPECT_THAT(error(grep, R"json({"pattern":"("})json"),
              AllOf(HasSubstr("unclosed group"), HasSubstr("backslash")));
  EXPECT_THAT(error(grep, R"json({"pattern":"(?=a)"})json"), HasSubstr("look-around"));
  EXPECT_THAT(error(grep, R"({"pattern":"a\nb"})"), HasSubstr("line by line"));
}

TEST_F(RealWorkspace, AnOptionOfTheSearchProgramIsAPatternLikeAnyOther) {  // arginj-15
  const std::string pwn = root / "pwn";
  write("ws/x.sh", "#!/bin/sh\ntouch " + pwn + "\n");
  std::filesystem::permissions(root / "ws/x.sh", std::filesystem::perms::owner_all);
  write("ws/.ripgreprc", "--pre=" + (root / "ws/x.sh").string() + "\n");
  ::setenv("RIPGREP_CONFIG_PATH", (root / "ws/.ripgreprc").c_str(), 1);
  const auto said = ok(grep, R"({"pattern":"--pre=./x.sh","path":"."})");
  EXPECT_FALSE(std::filesystem::exists(pwn));
  EXPECT_THAT(said, HasSubstr("No matches"));
  // By hand, with the same variable, the program runs what its settings name.
  EXPECT_NE(std::system(("rg CANARY " + (root / "ws").string() + " >/dev/null 2>&1").c_str()), -1);
  EXPECT_TRUE(std::filesystem::exists(pwn)) << "control";
  ::unsetenv("RIPGREP_CONFIG_PATH");
}

TEST_F(RealWorkspace, GlobFindsFiles) {
  EXPECT_EQ(ok(glob, R"({"pattern":"*.cc"})"), "[2 files]\nnew␊line.cc\nsrc/a.cc\n");
  EXPECT_EQ(ok(glob, R"({"pattern":"**"})"), "[4 files]\n-\nnew␊line.cc\nsrc/a.cc\nsrc/b.txt\n");
  EXPECT_EQ(ok(glob, R"({"pattern":".*"})"), "[1 file]\n.gitignore\n");
  EXPECT_EQ(ok(glob, R"({"pattern":".github/**"})"), "[1 file]\n.github/ci.yml\n");
  EXPECT_THAT(ok(glob, R"({"pattern":".git/**"})"), HasSubstr("No files match"));
}

TEST_F(RealWorkspace, ListMarksLinks) {
  EXPECT_THAT(ok(list, "{}"),
              AllOf(HasSubstr("link.txt  (link)\n"), HasSubstr("src/\n"), HasSubstr(".git/\n")));
}

}  // namespace
}  // namespace deputy
