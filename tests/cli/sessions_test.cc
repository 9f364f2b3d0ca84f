// What was kept can be looked at: the list, one session, its tree, what was said, the notes, the events.
#include <gmock/gmock.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SessionsTest : public DeputyTest {
 protected:
  SessionsTest() {
    const auto model = script(R"({"v":1,"sessions":[{"match":{"agent":"reader"},"replies":[
      {"text":"looking","calls":[{"name":"Note","arguments":{"content":"a \u001b[31mred note"}}]},
      {"text":"it is fine"}]}]})");
    const auto ran = deputy({"delegate", "--model", model, "--task", "one=look here", "--task",
                             "two=look there", "--output", "json"});
    const auto result = parse_json_object(ran.out);
    EXPECT_TRUE(result) << ran.err;
    if (!result) return;
    root_id_ = string_or(*result, "session_id", "");
    const auto tree = parse_json_object(deputy({"sessions", "tree", root_id_, "--output", "json"}).out);
    EXPECT_TRUE(tree);
    if (!tree) return;
    for (const auto& child : *array_at(*tree, "children"))
      children_.push_back(string_or(child.as_object(), "id", ""));
  }
  std::string root_id_;
  std::vector<std::string> children_;
};

TEST_F(SessionsTest, TheListShowsRootsWithWhatTheyWereFor) {
  const auto ran = deputy({"sessions", "ls"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr(root_id_), HasSubstr("completed"),
                    HasSubstr("[one] look here; [two] look there"), Not(HasSubstr(children_.front()))));
  EXPECT_EQ(deputy({"sessions", "ls", "--live"}).out, "");
}

TEST_F(SessionsTest, TheListShowsWhatATaskAndARunWereFor) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  ASSERT_EQ(deputy({"task", "explore", "how does it start?", "--model", model}).status, 0);
  ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  EXPECT_THAT(deputy({"sessions", "ls"}).out,
              AllOf(HasSubstr("  [explore] how does it start?\n"), HasSubstr("  say hello\n")));
}

TEST_F(SessionsTest, ATreeShowsChildrenInOrder) {
  const auto out = deputy({"sessions", "tree", root_id_}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("[delegate]"), HasSubstr("  [one]"), HasSubstr("in="), HasSubstr("$")));
  EXPECT_LT(out.find("[one]"), out.find("[two]"));
}

TEST_F(SessionsTest, DetailsOfOne) {
  EXPECT_THAT(deputy({"sessions", "show", children_.at(0)}).out,
              AllOf(HasSubstr("agent       reader"), HasSubstr("parent      " + root_id_),
                    HasSubstr("look here"), HasSubstr("it is fine"), HasSubstr("/subagent/one-")));
}

TEST_F(SessionsTest, TheTranscriptReadsWellAndHidesNothing) {
  EXPECT_THAT(
      deputy({"sessions", "transcript", children_.at(0)}).out,
      AllOf(HasSubstr("--- parent\nlook here\n"), HasSubstr("> Note"),
            HasSubstr("--- result of Note\nNoted."), HasSubstr("it is fine"), Not(HasSubstr("\x1b"))));
}

TEST_F(SessionsTest, TheTranscriptAsJsonIsTheSealedFile) {
  const auto shown = parse_json(deputy({"sessions", "transcript", children_.at(0), "--output", "json"}).out);
  ASSERT_TRUE(shown);
  for (const auto& name : files_below(home() / "subagent")) {
    if (!name.starts_with("one-") || !name.ends_with(".json")) continue;
    const auto sealed = parse_json(contents(home() / "subagent" / name));
    ASSERT_TRUE(sealed);
    EXPECT_EQ(*shown, *sealed);
  }
}

TEST_F(SessionsTest, NotesOfATreeNameTheirSessions) {
  EXPECT_THAT(deputy({"sessions", "notes", root_id_}).out,
              AllOf(HasSubstr("[one] " + children_.at(0) + "\na ␛[31mred note\n"), HasSubstr("[two]")));
  EXPECT_THAT(deputy({"sessions", "notes", children_.at(1)}).out, Not(HasSubstr("[one]")));
}

TEST_F(SessionsTest, ExportedEventsAreThoseThatWereStreamed) {
  const auto out = deputy({"sessions", "export", children_.at(0)}).out;  // of its whole tree
  EXPECT_THAT(out, AllOf(HasSubstr("\"event\":\"note\""), HasSubstr("\"label\":\"two\""),
                         HasSubstr("\"event\":\"session.completed\"")));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(parse_json_object(line)) << line;
}

TEST_F(SessionsTest, AnIdMayBeShortenedAndAWrongOneNamesTheNearest) {
  EXPECT_EQ(deputy({"sessions", "show", root_id_.substr(0, root_id_.size() - 1)}).status, 0);
  std::string wrong = root_id_;
  std::swap(wrong[wrong.size() - 1], wrong[wrong.size() - 2]);
  if (wrong == root_id_) wrong.back() = wrong.back() == 'a' ? 'b' : 'a';
  const auto ran = deputy({"sessions", "show", wrong});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("did you mean"));
}

}  // namespace
}  // namespace deputy
