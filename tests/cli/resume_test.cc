// Several processes on one state folder: a tree has one that runs it, and whoever comes second is told which.
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

// Answers at once, then not for a minute.
constexpr std::string_view kSlow = R"({"v":1,"sessions":[{"replies":[
  {"calls":[{"name":"List","arguments":{}}]},
  {"text":"at last","first_byte_ms":60000}]}]})";

class ResumeTest : public DeputyTest {
 protected:
  // Up to where the model does not answer any more.
  std::unique_ptr<Running> start_slow() {
    auto running = start({"run", "--model", script(kSlow), "--output", "stream-json", "go"});
    running->read_until(R"("call":0,"result":"ok")");
    return running;
  }
  std::string state_of_newest() {
    const auto listed = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    if (!listed || listed->as_array().empty()) return "(none)";
    const auto& newest = listed->as_array().front().as_object();
    id_ = string_or(newest, "id", "");
    return string_or(newest, "state", "");
  }
  std::string id_;
};

TEST_F(ResumeTest, ATreeThatRunsIsNotTakenOverAndItsHolderIsNamed) {
  const auto running = start_slow();
  EXPECT_NE(state_of_newest(), "interrupted");
  const auto refused = deputy({"resume", id_});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(id_ + " is run by process "), HasSubstr("since"),
                                 HasSubstr("sessions tail"), Not(HasSubstr("going on"))));
  EXPECT_THAT(deputy({"resume"}).err,
              AllOf(HasSubstr("nothing was left unfinished: " + id_ + " is run by process "),
                    HasSubstr(fmt::format("{}", running->pid())), HasSubstr("sessions tail " + id_)));
  // It was not disturbed.
  EXPECT_EQ(deputy({"sessions", "cancel", id_}).status, 0);
  EXPECT_NE(running->wait().status, 128 + SIGKILL);
}

TEST_F(ResumeTest, WhatAKilledProcessRanIsShownAsInterruptedSealedAndResumed) {
  auto running = start_slow();
  running->send(SIGKILL);
  running->wait();
  EXPECT_EQ(state_of_newest(), "interrupted");
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out, HasSubstr("interrupted"));
  EXPECT_THAT(deputy({"sessions", "show", id_}).out, HasSubstr("interrupted"));
  EXPECT_THAT(deputy(std::vector<std::string>{}).out,
              AllOf(HasSubstr("Left unfinished; `deputy resume ID` goes on with it:"), HasSubstr(id_)));
  ASSERT_EQ(deputy({"demo"}).status, 0);  // any start sees to what others left
  std::string sealed;
  for (const auto& file : files_below(home() / "subagent")) {
    EXPECT_FALSE(file.ends_with(".jsonl")) << file;
    const auto text = contents(home() / "subagent" / file);
    if (text.contains(id_)) sealed = text;
  }
  EXPECT_THAT(sealed, HasSubstr(R"("outcome":"interrupted")"));
  write(
      root() / "script.json",
      R"({"v":1,"sessions":[{"replies":[{"calls":[{"name":"List","arguments":{}}]},{"text":"at last"}]}]})");
  const auto resumed = deputy({"resume", id_});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("at last"));
  EXPECT_THAT(deputy(std::vector<std::string>{}).out, Not(HasSubstr("Left unfinished")));
}

TEST_F(ResumeTest, TheTimeThatIsGivenBeginsWhenTheTreeGoesOn) {
  constexpr std::string_view kTakesItsTime = R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"List","arguments":{}}],"first_byte_ms":4000},
    {"text":"at last","first_byte_ms":60000}]}]})";
  auto running =
      start({"run", "--model", script(kTakesItsTime), "--timeout", "1h", "--output", "stream-json", "go"});
  running->read_until(R"("call":0,"result":"ok")");
  running->send(SIGKILL);
  running->wait();
  ASSERT_EQ(state_of_newest(), "interrupted");
  write(
      root() / "script.json",
      R"({"v":1,"sessions":[{"replies":[{"calls":[{"name":"List","arguments":{}}]},{"text":"at last"}]}]})");
  const auto resumed = deputy({"resume", id_, "--timeout", "3s"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("at last"));
}

// Known by what was written down beside it: the model is not invited to do it a second time.
TEST_F(ResumeTest, ABackgroundCommandThatHadEndedIsToldByItsExitStatus) {
  constexpr std::string_view kStart =
      R"({"calls":[{"name":"Bash","arguments":{"command":"printf x >> made","run_in_background":true}}]},)"
      R"({"calls":[{"name":"task_status","arguments":{"id":"bash_0_0","wait_seconds":60}}]},)";
  const auto model = script(fmt::format(
      R"({{"v":1,"sessions":[{{"replies":[{}{{"text":"never","first_byte_ms":60000}}]}}]}})", kStart));
  auto running = start({"run", "--yes", "--model", model, "--output", "stream-json", "go"});
  running->read_until(R"("step":1,"call":0,"result":"ok")");
  running->send(SIGKILL);
  running->wait();
  write(root() / "script.json",
        fmt::format(R"({{"v":1,"sessions":[{{"replies":[{}{{"text":"at last"}}]}}]}})", kStart));
  EXPECT_THAT(deputy({"resume", "--yes"}).out, HasSubstr("at last"));
  EXPECT_EQ(state_of_newest(), "completed");
  const auto told = deputy({"sessions", "transcript", id_}).out;
  EXPECT_THAT(told, AllOf(HasSubstr("had ended with exit status 0"), Not(HasSubstr("Start it again"))));
  EXPECT_EQ(contents(work() / "made"), "x");
}

}  // namespace
}  // namespace deputy
