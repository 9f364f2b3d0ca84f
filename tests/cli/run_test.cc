// `deputy run`: the root's own words on stdout, its status as exit status, approval by whoever is there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kParent = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"look"},{"label":"b","prompt":"see"}]}}]},
    {"text":"the children have spoken"}]},
  {"match":{"agent":"reader"},"replies":[{"text":"a report"}]}]})";

class RunTest : public DeputyTest {
 protected:
  // A root that ends at once with this reply.
  Ran run_to(const std::string& reply) {
    return deputy({"run", "--model", script(R"({"v":1,"sessions":[{"replies":[)" + reply + "]}]}"), "go"});
  }
};

TEST_F(RunTest, TheExitStatusFollowsTheRoot) {
  EXPECT_EQ(run_to(R"({"text":"done"})").status, 0);
  EXPECT_EQ(run_to(R"({"text":"half","error":{"kind":"output_limit"}})").status, 3);
  EXPECT_EQ(run_to(R"({"error":{"kind":"failed","message":"no luck"}})").status, 1);
  EXPECT_EQ(run_to(R"({"error":{"kind":"no_key"}})").status, 1);
}

TEST_F(RunTest, ACompactionIsAnnouncedBeforeItIsMade) {
  const auto ran = run_to(R"({"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"text":"I was about to","error":{"kind":"context_exhausted"}},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}})");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const std::size_t announced = ran.err.find("[main] compacting: the model sums up about ");
  const std::size_t made = ran.err.find("[main] compacted: a summary stands for ");
  ASSERT_NE(made, std::string::npos) << ran.err;
  EXPECT_LT(announced, made) << ran.err;
}

TEST_F(RunTest, ThePromptMayComeOnStdin) {
  const auto model =
      script(R"({"v":1,"sessions":[{"replies":[{"expect":{"contains":"héllo"},"text":"heard"}]}]})");
  const auto ran = deputy({.words = {"run", "--model", model}, .input = "héllo\n"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "heard\n");
}

TEST_F(RunTest, AFailureSaysWhyOnStderr) {
  const auto ran = run_to(R"({"error":{"kind":"failed","message":"no luck"}})");
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("deputy: failed: no luck"));
}

TEST_F(RunTest, WithNobodyThereADelegationIsNotApproved) {
  const auto ran = deputy({"run", "--model", script(kParent), "go"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[main] asks: Spawn 2 subagents"), HasSubstr("nobody is there"),
                             Not(HasSubstr("[a] started"))));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("deputy: 1 call was not made: nobody was there to approve it"),
                             HasSubstr("--yes"), HasSubstr("--allow Delegate")));
  EXPECT_THAT(deputy({"run", "--model", script(kParent), "--allow", "Delegate", "go"}).err,
              AllOf(HasSubstr("[a] ✓ complete"), Not(HasSubstr("not made"))));
}

// deleg-05: the control is a rule that allows it, so that nobody is asked.
TEST_F(RunTest, WithNobodyThereACommandOfAChildIsNotRun) {
  const auto model = script(R"({"v":1,"sessions":[
    {"match":{"agent":"main"},"replies":[
      {"calls":[{"name":"task","arguments":{"agent":"general","prompt":"clean up"}}]},{"text":"over"}]},
    {"match":{"agent":"general"},"replies":[
      {"calls":[{"name":"Bash","arguments":{"command":"rm -rf build"}}]},{"text":"ended"}]}]})");
  write(work() / "build/made", "x");
  const auto ran = deputy({"run", "--allow", "task", "--model", model, "go"});
  EXPECT_EQ(ran.out, "over\n") << "it does not wait for an answer: " << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("nobody"));
  EXPECT_TRUE(std::filesystem::exists(work() / "build/made"));
  deputy({"run", "--allow", "task", "--allow", "Bash", "--model", model, "go"});
  EXPECT_FALSE(std::filesystem::exists(work() / "build/made")) << "control";
}

TEST_F(RunTest, YesApprovesAndTheChildrenRun) {
  const auto ran = deputy({"run", "--yes", "--model", script(kParent), "go"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "the children have spoken\n");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[a] ✓ complete"), HasSubstr("[b] ✓ complete")));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[main] Delegate 2 subagents"), Not(HasSubstr("asks: ")),
                             Not(HasSubstr("not made"))));
}

TEST_F(RunTest, YesNeverApprovesWhatIsDenied) {
  const auto ran = deputy({"run", "--yes", "--deny", "Delegate", "--model", script(kParent), "go"});
  EXPECT_THAT(ran.err, Not(HasSubstr("[a] started")));
}

TEST_F(RunTest, VerboseTellsOfStepsAndResults) {
  const auto ran = deputy({"run", "-v", "--yes", "--model", script(kParent), "go"});
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[main] replied: calls"), HasSubstr("[main] asks: Spawn 2 subagents"),
                             HasSubstr("[main] approved"), HasSubstr("[main] result: ok")));
}

TEST_F(RunTest, TheRehearsalModelSaysWhatItIs) {
  write(work() / "README.md", "# A project\n\nTODO: finish it\n");
  const auto ran = deputy({"run", "--yes", "What is unfinished?"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("not a language model"));
  EXPECT_THAT(ran.out, HasSubstr("README.md:3"));
}

TEST_F(RunTest, APersonIsAskedOnTheTerminal) {
  auto running = start_on_terminal({"run", "--model", script(kParent), "go"});
  EXPECT_THAT(running->read_screen_until("[y]es / [n]o"), HasSubstr("Spawn 2 subagents: [a] look; [b] see"));
  running->type("y\n");
  const auto ran = running->wait();
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "the children have spoken\n");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[a]"), HasSubstr("✓ complete")));
}

TEST_F(RunTest, AnInterruptAtAQuestionIsToldOnALineOfItsOwn) {
  auto running = start_on_terminal({"run", "--model", script(kParent), "go"});
  running->read_screen_until("if you like: ");
  running->send(SIGINT);
  EXPECT_THAT(running->read_screen_until("cancelling"), HasSubstr("\ndeputy: cancelling"));
  EXPECT_EQ(running->wait().status, 130);
}

TEST_F(RunTest, AReaderOfEventsThatGoesAwayLeavesItToBeResumed) {
  auto running = start_on_terminal({"run", "--output", "stream-json", "--model", script(kParent), "go"});
  running->read_screen_until("if you like: ");
  running->close_stdout();
  running->type("y\n");
  EXPECT_THAT(running->read_screen_until("to go on: `deputy resume sess_"),
              HasSubstr("nobody reads the events any more"));
  EXPECT_EQ(running->wait().status, 130);
  const auto resumed = deputy({"resume", "--yes"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "the children have spoken\n");
}

TEST_F(RunTest, AReaderOfEventsThatGoesAwayAtTheLastOneFindsItCompleted) {
  // No pipe has room for the report, and nobody reads it to its end.
  const auto model = script(
      fmt::format(R"({{"v":1,"sessions":[{{"replies":[{{"text":"{}"}}]}}]}})", std::string(200'000, 'x')));
  auto running = start({"run", "--output", "stream-json", "--model", model, "go"});
  running->read_until(R"("event":"tokens")");
  running->close_stdout();
  const auto ran = running->wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("nobody reads the events")));
}

TEST_F(RunTest, TheReasonOfANoReachesTheModel) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"look"}]}}]},
    {"expect":{"contains":"too dear"},"text":"then I will not"}]}]})");
  auto running = start_on_terminal({"run", "--plain", "--model", model, "go"});
  running->read_screen_until("[y]es / [n]o");
  running->type("n too dear\n");
  const auto ran = running->wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "then I will not\n");
}

TEST_F(RunTest, TheTerminalIsLeftAsItWas) {
  auto running = start_on_terminal({"run", "--yes", "--model", script(kParent), "go"});
  const auto ran = running->wait();
  // Wrapping is switched off while a frame is drawn, and never left off.
  EXPECT_EQ(ran.err.rfind("\x1b[?7l") < ran.err.rfind("\x1b[?7h"), true);
  EXPECT_THAT(ran.err, Not(HasSubstr("\x1b[?1049h")));
}

}  // namespace
}  // namespace deputy
