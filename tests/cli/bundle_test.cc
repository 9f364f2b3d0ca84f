// What a person attaches to a bug report, and what another makes of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/json.h"
#include "deputy_program.h"
#include "support/canary.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kScript = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"look at a"},{"label":"b","prompt":"look at b"}]}}]},
    {"calls":[{"name":"Bash","arguments":{"command":"printf made > made; printf made"}}]},
    {"text":"Both are back."}]},
  {"match":{"label":"a"},"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}},{"name":"Note","arguments":{"content":"a is read"}}]},
    {"text":"It says one."}]},
  {"match":{"label":"b"},"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"absent.txt"}}]},
    {"text":"There is none.","usage":{"input":10,"output":2}}]}]})";

class BundleTest : public DeputyTest {
 protected:
  void SetUp() override {
    write(work() / "a.txt", "one\n");
    const auto ran = deputy({.words = {"run", "--yes", "--model", script(kScript)},
                             .input = "hand it out; " + canary_of_all_tests().key(),
                             .environment = {},
                             .current = {}});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  std::filesystem::path bundle() {
    const auto ran = deputy({"doctor", "--bundle", "newest"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err,
                AllOf(HasSubstr("events of sess_"), HasSubstr("redacted"), HasSubstr("Read it before")));
    return ran.out.substr(0, ran.out.find('\n'));
  }
  Ran replay(const std::filesystem::path& file) { return deputy({"doctor", "--replay", file.string()}); }
};

TEST_F(BundleTest, ReplaysToTheSameEvents) {
  const auto file = bundle();
  // On another machine nothing of the workspace is there.
  std::filesystem::remove(work() / "a.txt");
  std::filesystem::remove(work() / "made");
  const auto before = std::pair(files_below(work()), files_below(home()));
  const auto ran = replay(file);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("events of 3 sessions, replayed: the same but for times and ids"));
  EXPECT_EQ(std::pair(files_below(work()), files_below(home())), before) << "a replay touches nothing";
  const auto told = parse_json_object(deputy({"doctor", "--replay", file.string(), "--output", "json"}).out);
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->at("same").as_bool());
  EXPECT_GT(integer_or(*told, "events", 0), 20);
}

// Of a model in no catalogue too: a script has room for more than what is not known otherwise.
TEST_F(BundleTest, HoldsTheWindowsThatItsModelsHad) {
  const std::string text = contents(bundle());
  const auto about = parse_json_object(std::string_view(text).substr(0, text.find('\n')));
  ASSERT_TRUE(about);
  const auto* windows = object_at(*about, "windows");
  ASSERT_TRUE(windows && windows->size() == 1u);
  EXPECT_EQ(windows->begin()->value(), 200'000);
}

TEST_F(BundleTest, HoldsTheAgentsOfThePerson) {
  const auto own = root() / "person/.config/deputy/agents";
  std::filesystem::create_directories(own);
  write(own / "scout.md", "---\ndescription: goes ahead\ntools: [Read]\n---\nYou scout.\n");
  const auto ran = deputy({"task", "scout", "look", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},{"text":"It says one."}]}]})")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto file = bundle();
  EXPECT_THAT(contents(file), HasSubstr("You scout."));
  std::filesystem::remove_all(own);
  const auto replayed = replay(file);
  EXPECT_EQ(replayed.status, 0) << replayed.out << replayed.err;
}

TEST_F(BundleTest, SaysWhereAReplayGoesAnotherWay) {
  const auto file = bundle();
  std::string text = contents(file);
  // In the last record of all, which is the root's end.
  text.replace(text.rfind("Both are back."), 14, "None are back.");
  write(root() / "changed.jsonl", text);
  const auto ran = replay(root() / "changed.jsonl");
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("session root, run 1, "), HasSubstr("None are back."),
                             HasSubstr(": 1 session went another way"), Not(HasSubstr("root/"))));
}

TEST_F(BundleTest, IsOneFileOfThePersonsOwnWithoutSecrets) {
  const auto file = bundle();
  struct stat found{};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  const std::string text = contents(file);
  EXPECT_FALSE(canary_of_all_tests().is_in(text));
  EXPECT_THAT(text,
              AllOf(HasSubstr("[redacted]"), HasSubstr("\"deputy_bundle\":2"), HasSubstr("\"checks\":["),
                    HasSubstr("sandbox"), HasSubstr("\"settings\":{"), HasSubstr("look at b")));
}

TEST_F(BundleTest, IsNeverWrittenOverAnother) {
  const auto file = bundle();
  const std::string before = contents(file);
  const auto again = deputy({"doctor", "--bundle", "newest"});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, AllOf(HasSubstr("is there already"), HasSubstr("move it away")));
  EXPECT_EQ(contents(file), before);
}

TEST_F(BundleTest, IsOfTheTreeOfTheSessionThatIsNamed) {
  const auto listed = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
  ASSERT_TRUE(listed && !listed->as_array().empty());
  const auto& root_session = listed->as_array().front().as_object();
  const std::string child(root_session.at("children").as_array().front().as_string());
  const auto ran = deputy({"doctor", "--bundle", child, "--output", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto told = parse_json_object(ran.out);
  ASSERT_TRUE(told) << ran.out;
  EXPECT_EQ(string_or(*told, "tree", ""), string_or(root_session, "id", ""));
  EXPECT_TRUE(std::filesystem::exists(string_or(*told, "file", "")));
  EXPECT_EQ(deputy({"doctor", "--bundle", "sess_0_absent"}).status, 2);
}

TEST_F(BundleTest, ThatIsBrokenOrForeignIsRefused) {
  write(root() / "foreign", kScript);
  const auto foreign = replay(root() / "foreign");
  EXPECT_EQ(foreign.status, 2);
  EXPECT_THAT(foreign.err, AllOf(HasSubstr("no bundle of deputy's"), HasSubstr("deputy doctor --bundle")));
  const std::string text = contents(bundle());
  write(root() / "cut", text.substr(0, text.size() / 2));
  const auto cut = replay(root() / "cut");
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.err, AllOf(HasSubstr("the bundle is broken in line"), HasSubstr("ask for the file again")));
  EXPECT_EQ(replay(root() / "absent").status, 2);
  EXPECT_EQ(deputy({"doctor", "--bundle", "newest", "--replay", "x"}).status, 2);
}

}  // namespace
}  // namespace deputy
