// Stops of every kind: what was found is kept, and what was left is resumed. Nothing here waits for a moment:
// a test acts when the program says where it is.
#include <gmock/gmock.h>
#include <signal.h>

#include <iomanip>
#include <sstream>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// [quick] ends at once; [slow] takes a note, then waits for a day.
constexpr std::string_view kSlow = R"({"v":1,"log":"LOG","sessions":[
  {"match":{"label":"quick"},"replies":[{"text":"quickly done"}]},
  {"match":{"label":"slow"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":WAIT,"text":"slowly done"}]}]})";

class StopTest : public DeputyTest {
 protected:
  std::string slow_model(std::string_view wait) const {
    std::string text(kSlow);
    text.replace(text.find("WAIT"), 4, wait);
    text.replace(text.find("LOG"), 3, (root() / "log").string());
    return script(text);
  }
  std::unique_ptr<Running> start_slow() {
    return start({"delegate", "--model", slow_model("86400000"), "--output", "stream-json", "--task",
                  "quick=p", "--task", "slow=p"});
  }
  // Until both children are as far as they get.
  static void wait_until_stuck(Running& running) {
    bool is_done = false;
    bool is_noted = false;
    while (!is_done || !is_noted) {
      const auto line = running.read_line();
      ASSERT_TRUE(line) << "it ended early";
      is_done = is_done || (line->contains("\"completed\"") && line->contains("\"quick\""));
      is_noted = is_noted || (line->contains("\"session.progress\"") && line->contains("\"slow\""));
    }
  }
  std::size_t requests_of(std::string_view label) const {
    std::size_t count = 0;
    std::istringstream lines(contents(root() / "log"));
    for (std::string line; std::getline(lines, line);)
      count += line.contains("\"" + std::string(label) + "\"");
    return count;
  }
};

TEST_F(StopTest, AfterAKillTheTreeIsResumedWhereItStood) {
  auto running = start_slow();
  wait_until_stuck(*running);
  running->send(SIGKILL);
  EXPECT_EQ(running->wait().status, 128 + SIGKILL);
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out, HasSubstr("[quick] p; [slow] p"));

  slow_model("0");
  const auto ran = deputy({"resume"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("2/2"), HasSubstr("quickly done"), HasSubstr("slowly done")));
  EXPECT_EQ(requests_of("quick"), 1U);  // what had ended is not run again
  EXPECT_EQ(deputy({"sessions", "notes", "sess_"}).status, 2);
  EXPECT_EQ(deputy({"sessions", "ls", "--live"}).out, "");
  EXPECT_THAT(deputy({"resume"}).err, HasSubstr("nothing was left unfinished"));
}

TEST_F(StopTest, WhoGoesOnWithATreeOnATerminalSeesAllOfIt) {
  auto killed = start_slow();
  wait_until_stuck(*killed);
  killed->send(SIGKILL);
  killed->wait();
  const auto resumed = start_on_terminal({"resume"});  // [slow] does not answer this time either
  const std::string screen = resumed->read_screen_until("note: half way");
  EXPECT_THAT(screen, AllOf(HasSubstr("Delegate [2 subagents]"), HasSubstr("  [quick]  ✓ complete"),
                            HasSubstr("  [slow]   → note: half way")));
  resumed->send(SIGKILL);
  resumed->wait();
}

TEST_F(StopTest, WhoGoesOnWithWhatMayHaveBeenAChatIsToldHowToTalkToIt) {
  auto killed = start({"run", "go", "--yes", "--output", "stream-json", "--model", delegating("86400000")});
  wait_until_stuck(*killed);
  killed->send(SIGKILL);
  killed->wait();
  const auto resumed = start_on_terminal({"resume", "--yes"});
  EXPECT_THAT(resumed->read_screen_until("note: half way"),
              AllOf(HasSubstr("going on with sess_"), HasSubstr("` in a chat goes on talking")));
  resumed->send(SIGINT);
  EXPECT_THAT(resumed->read_screen_until(".json --resume sess_"),
              AllOf(HasSubstr("`deputy task main 'go on' --resume sess_"),
                    HasSubstr("; or in a chat: `deputy chat --model scripted/")));
  EXPECT_EQ(resumed->wait().status, 130);
}

TEST_F(StopTest, AResumedNoteIsTakenOnce) {
  auto running = start_slow();
  wait_until_stuck(*running);
  running->send(SIGKILL);
  running->wait();
  slow_model("0");
  EXPECT_EQ(deputy({"resume", "--output", "json"}).status, 0);
  const auto listed = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
  ASSERT_TRUE(listed);
  const auto id = string_or(listed->as_array().front().as_object(), "id", "");
  const auto notes = deputy({"sessions", "notes", id}).out;
  EXPECT_EQ(notes.find("half way"), notes.rfind("half way"));
}

TEST_F(StopTest, AnInterruptCancelsAndKeepsWhatWasFound) {
  for (const int signal : {SIGINT, SIGTERM}) {
    auto running = start_slow();
    wait_until_stuck(*running);
    running->send(signal);
    const auto ran = running->wait();
    EXPECT_EQ(ran.status, 130);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("\"event\":\"result\""), HasSubstr("\"status\":\"cancelled\""),
                               HasSubstr("quickly done"), HasSubstr("half way")));
    EXPECT_THAT(ran.err, HasSubstr("cancelling"));
    const std::string why = signal == SIGTERM ? "ended by SIGTERM" : "cancelled by the person";
    EXPECT_THAT(ran.out, HasSubstr("\"message\":\"" + why));
    EXPECT_THAT(deputy({"sessions", "tree", "newest"}).out, HasSubstr("cancelled (" + why + ")"));
  }
  EXPECT_THAT(deputy({"resume"}).err, HasSubstr("nothing was left unfinished"));
}

// The command line that a text names between backticks, without the program's name.
std::vector<std::string> command_in(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("`deputy " + begin);
  if (at == std::string::npos) return {};
  std::istringstream words(text.substr(at + 8, text.find('`', at + 1) - at - 8));
  std::vector<std::string> command;
  for (std::string word; words >> std::quoted(word, '\'');) command.push_back(word);
  return command;
}

TEST_F(StopTest, AnInterruptedRunTellsWhatThereIsAndTheCommandThatGoesOn) {
  auto running = start({"run", "go", "--yes", "--output", "stream-json", "--model", delegating("86400000")});
  wait_until_stuck(*running);
  running->send(SIGINT);
  const auto stopped = running->wait();
  EXPECT_EQ(stopped.status, 130);
  EXPECT_THAT(stopped.out, AllOf(HasSubstr("\"event\":\"result\""), HasSubstr("I ask two."),
                                 HasSubstr("quickly done"), HasSubstr("half way")));
  const auto command = command_in(stopped.err, "task main");
  ASSERT_EQ(command.size(), 5U) << stopped.err;

  const auto again = deputy({"resume", command.back()});
  EXPECT_EQ(again.status, 130);
  EXPECT_THAT(again.out, AllOf(HasSubstr("I ask two."), HasSubstr("quickly done"), HasSubstr("half way")));
  EXPECT_THAT(again.err, AllOf(HasSubstr("nothing is left to go on with"), HasSubstr("task main 'go on'")));

  const auto ran = deputy(command);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Both have *reported*."));
}

TEST_F(StopTest, AnInterruptedRunThatHasFoundNothingIsGoneOnWith) {
  const std::string model = R"({"v":1,"sessions":[{"replies":[
    {"text":"at last","first_byte_ms":WAIT},{"text":"at last"}]}]})";
  const auto waiting = [&model](std::string_view wait) {
    std::string text = model;
    return text.replace(text.find("WAIT"), 4, wait);
  };
  auto running = start({"run", "go", "--output", "stream-json", "--model", script(waiting("86400000"))});
  running->read_until("\"started\"");
  running->send(SIGINT);
  const auto stopped = running->wait();
  EXPECT_EQ(stopped.status, 130);
  const auto command = command_in(stopped.err, "task main");
  ASSERT_EQ(command.size(), 5U) << stopped.err;
  script(waiting("0"));
  const auto ran = deputy(command);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("at last"));
}

// A command that does not end when it is told to: to cancel it takes a while.
TEST_F(StopTest, ASecondSignalLeavesAtOnceAndNamesTheCommandThatGoesOn) {
  constexpr std::string_view kStubborn = R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Bash","arguments":{"command":
      "trap '' TERM; printf 'half-%s\\n' way; while :; do sleep 1; done"}}]},
    {"text":"at last"}]}]})";
  auto running = start({"run", "go", "--yes", "--output", "stream-json", "--model", script(kStubborn)});
  running->read_until("half-way");
  running->send(SIGINT);
  running->send(SIGTERM);
  const auto left = running->wait();
  EXPECT_EQ(left.status, 130);
  const auto command = command_in(left.err, "resume sess_");
  ASSERT_EQ(command.size(), 2U) << left.err;
  EXPECT_THAT(left.err, HasSubstr("stays so; to go on with the rest: `deputy resume "));
  EXPECT_THAT(left.out, Not(HasSubstr("\"duration_ms\""))) << "it did not wait for the end";
  const std::size_t last = left.out.rfind('\n', left.out.size() - 2) + 1;  // behind the one before, or 0
  const auto document = parse_json_object(left.out.substr(last));
  ASSERT_TRUE(document) << left.out;
  EXPECT_EQ(string_or(*document, "event", ""), "result");
  EXPECT_EQ(string_or(*document, "status", ""), "cancelled");
  EXPECT_EQ(string_or(*document, "session_id", ""), command.back());
  ASSERT_TRUE(object_at(*document, "error"));
  EXPECT_THAT(string_or(*object_at(*document, "error"), "hint", ""), HasSubstr("resume " + command.back()));
  const auto resumed = deputy(command);
  EXPECT_THAT(resumed.status, ::testing::AnyOf(0, 130)) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr(command.back()));
  EXPECT_EQ(deputy({"sessions", "ls", "--live"}).out, "") << "nothing is left of it";
}

TEST_F(StopTest, AHangUpLeavesTheTreeToBeResumed) {
  auto running = start_slow();
  wait_until_stuck(*running);
  running->send(SIGHUP);
  const auto left = running->wait();
  EXPECT_EQ(left.status, 130);
  EXPECT_THAT(left.err, AllOf(HasSubstr("left unfinished: ended by SIGHUP"), HasSubstr("resume sess_")));
  slow_model("0");
  const auto ran = deputy({"resume", "--output", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("slowly done"));
}

TEST_F(StopTest, AResumeKeepsModelAndRules) {
  EXPECT_EQ(deputy({"resume", "--model", "rehearsal"}).status, 2);
  EXPECT_EQ(deputy({"resume", "--allow", "Read"}).status, 2);
  EXPECT_EQ(deputy({"resume", "sess_none"}).status, 2);
}

}  // namespace
}  // namespace deputy
