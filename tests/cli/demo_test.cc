// The main job with nothing configured, and what the machine is told of itself.
#include <gmock/gmock.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DemoTest : public DeputyTest {
 protected:
  DemoTest() {
    write(work() / "README.md", "# A small project\n\nIt does little.\n");
    write(work() / "src/main.c", "int main() {\n  // TODO: do something\n  return 0;\n}\n");
  }
};

TEST_F(DemoTest, ThreeChildrenReportOnTheFolderAndAllIsKept) {
  const auto ran = deputy({.words = {"demo"}, .environment = {{"DEPUTY_MODEL", "nonsense"}}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("## Subagents complete: 3/3"), HasSubstr("src/main.c:2")));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("not a language model"), HasSubstr("started"), HasSubstr("note:"),
                             HasSubstr("sessions tree sess_"), HasSubstr("sessions transcript sess_"),
                             HasSubstr("sessions notes sess_"), HasSubstr((home() / "subagent").string())));
}

TEST_F(DemoTest, TheSameFolderGivesTheSameBytes) { EXPECT_EQ(deputy({"demo"}).out, deputy({"demo"}).out); }

TEST_F(DemoTest, TheCommandLinesItNamesWork) {
  const auto err = deputy({"demo"}).err;
  std::size_t tried = 0;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("sessions ");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at));
    std::vector<std::string> typed{std::istream_iterator<std::string>(words), {}};
    const auto ran = deputy(typed);
    EXPECT_EQ(ran.status, 0) << line << ran.err;
    EXPECT_NE(ran.out, "") << line;
    ++tried;
  }
  EXPECT_EQ(tried, 5U);
}

TEST_F(DemoTest, ATerminalWithoutUtf8IsSentAsciiAloneAndAPipeTheSameBytesAsEver) {
  const auto shown = chat_on_terminal({"demo"}, {{"LC_ALL", "C"}})->wait();
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.err, HasSubstr("## Subagents complete: 3/3"));
  for (const char c : shown.err) ASSERT_LT(static_cast<unsigned char>(c), 0x80) << shown.err;
  EXPECT_EQ(deputy({.words = {"demo"}, .environment = {{"LC_ALL", "C"}}}).out, deputy({"demo"}).out);
}

TEST_F(DemoTest, AnEmptyFolderIsFine) {
  std::filesystem::remove_all(work());
  std::filesystem::create_directory(work());
  EXPECT_EQ(deputy({"demo"}).status, 0);
}

TEST_F(DemoTest, TheDoctorSaysWhatThereIs) {
  const auto ran = deputy({"doctor", "--output", "json"});
  const auto document = parse_json_object(ran.out);
  ASSERT_TRUE(document) << ran.out << ran.err;
  EXPECT_EQ(ran.status, *bool_at(*document, "ok") ? 0 : 1);
  EXPECT_EQ(array_at(*document, "checks")->size(), 11U);
  const auto text = deputy({"doctor"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("sandbox"), HasSubstr("rg"), HasSubstr("state folder")));
}

TEST_F(DemoTest, TheDoctorNamesWhatIsBroken) {
  write(home(), "a file in the way");
  const auto ran = deputy({"doctor"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("✗ state folder"), HasSubstr("--home")));
}

}  // namespace
}  // namespace deputy
