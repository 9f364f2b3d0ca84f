// What a child reports, on the whole runtime; each test is named after the sentence of the contract that it
// shows.

#include "a_child.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(AChild, ReportsWithTaskCompletion) {
  replies({completion(
      R"({"status":"completed","summary":"did it","body":"All of it.","next_steps":["merge"]})")});
  const Report report = run();
  EXPECT_EQ(report.status, Status::completed);
  EXPECT_EQ(report.reason, Reason::none);
  EXPECT_EQ(report.summary, "did it");
  EXPECT_EQ(report.body, "All of it.");
  EXPECT_THAT(told(), AllOf(HasSubstr("## Subagent Result (general)"), HasSubstr("Status: completed"),
                            HasSubstr("All of it."), HasSubstr("Next steps:\n- merge")));
}

TEST_F(AChild, HasItsLastTextAsBodyOtherwise) {
  replies({R"({"text":"Just words."})"});
  EXPECT_EQ(run().body, "Just words.");
}

TEST_F(AChild, MayNotSayThatItWasCancelled) {
  replies({completion(R"({"status":"cancelled","summary":"s"})"), kDone});
  EXPECT_EQ(run().status, Status::completed);
  EXPECT_THAT(child_told(0), AllOf(HasSubstr("status"), HasSubstr("completed")));
}

TEST_F(AChild, ReturnValidationSaysClearlyWhatIsWrong) {
  replies({completion(R"({"status":"invalid_status"})"), kDone});
  EXPECT_EQ(run().status, Status::completed);
  EXPECT_THAT(child_told(0), AllOf(HasSubstr("not valid"), HasSubstr("status"), HasSubstr("summary")));
}

TEST_F(AChild, SummaryHas1To500Characters) {
  const auto with = [](std::size_t n) {
    return completion(fmt::format(R"({{"status":"completed","summary":"{}"}})", std::string(n, 'x')));
  };
  replies({with(0), with(501), with(500)});
  const Report report = run();
  EXPECT_EQ(report.status, Status::completed);
  EXPECT_EQ(report.summary, std::string(500, 'x'));
  EXPECT_THAT(child_told(0), HasSubstr("summary"));
  EXPECT_THAT(child_told(1), HasSubstr("summary"));
}

TEST_F(AChild, ASessionIdThatIsNotItsOwnIsRefused) {
  replies({completion(R"({"status":"completed","summary":"s","session_id":"sess_1_abcdef"})"), kDone});
  EXPECT_EQ(run().status, Status::completed);
  EXPECT_THAT(child_told(0), AllOf(HasSubstr("sess_1_abcdef"), HasSubstr("not you")));
  const std::string own = report_of_child().session.value;
  world = {};  // in which the same child has the same id
  replies({completion(fmt::format(R"({{"status":"completed","summary":"mine","session_id":"{}"}})", own))});
  EXPECT_EQ(run().summary, "mine") << "control";
}

TEST_F(AChild, MetadataIsTheRuntimesOwn) {
  replies({completion(R"({"status":"completed","summary":"s","metadata":{"agent":"root","depth":0}})"),
           R"({"text":"fine"})"});
  const Report report = run();
  EXPECT_THAT(child_told(0), HasSubstr("metadata"));
  EXPECT_EQ(report.agent, "general");
  EXPECT_EQ(report.depth, 1);
  EXPECT_EQ(report.path, (std::vector<std::string>{"main", "general"}));
  EXPECT_EQ(report.session, world.sessions().back().id);
}

TEST_F(AChild, MayCorrectItsReportTwiceThenFailsWithTheOriginalKept) {
  const std::string bad = completion(R"({"status":"done","summary":"my findings"})");
  replies({bad, bad, bad});
  const Report report = run();
  EXPECT_EQ(report.status, Status::failed);
  EXPECT_EQ(report.reason, Reason::invalid_report);
  EXPECT_THAT(report.body, HasSubstr("my findings"));
  EXPECT_EQ(report.steps, 3);
}

TEST_F(AChild, IsTakenAtItsSecondCorrection) {
  const std::string bad = completion(R"({"status":"done","summary":"s"})");
  replies({bad, bad, kDone});
  EXPECT_EQ(run().status, Status::completed);
}

TEST_F(AChild, WhoseProfileDemandsAReportIsToldSoWhenItEndsWithPlainText) {
  options.profiles = {{.name = "clerk", .tools = {"Read"}, .returns = Returns::report}};
  replies({R"({"text":"plain"})", kDone}, "clerk");
  EXPECT_EQ(run().body, "All of it.");
  world = {};
  replies({R"({"text":"one"})", R"({"text":"two"})", R"({"text":"three"})"}, "clerk");
  const Report report = run();
  EXPECT_EQ(report.status, Status::failed);
  EXPECT_EQ(report.reason, Reason::invalid_report);
  EXPECT_EQ(report.body, "three");
}

TEST_F(AChild, WhoseProfileHasAnOutputSchemaMustGiveABodyThatValidates) {
  options.profiles = {
      {.name = "counter",
       .tools = {"Read"},
       .output_schema =
           R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false})"}};
  replies({completion(R"({"status":"completed","summary":"s","body":{"n":"seven"}})"),
           completion(R"({"status":"completed","summary":"s","body":{"n":7}})")},
          "counter");
  const Report report = run();
  EXPECT_EQ(report.status, Status::completed);
  EXPECT_EQ(report.body, R"({"n":7})");
  EXPECT_THAT(child_told(0), HasSubstr("n"));
}

TEST_F(AChild, HasTheContextAndTheMessagesThatItsProfileGivesIt) {
  options.profiles = {{.name = "small", .tools = {"Read", "Note"}, .max_messages = 3},
                      {.name = "tiny", .tools = {"Read", "Note"}, .max_context_tokens = 20'000}};
  const std::string note = call("Note", R"({"content":"kept"})");
  replies({note, note, R"({"text":"never asked"})"}, "small");
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_EQ(report.reason, Reason::context_exhausted);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.body, "kept\nkept");
  world = {};
  replies(
      {R"({"calls":[{"name":"Note","arguments":{"content":"kept"}}],"usage":{"input":18000,"output":10}})",
       R"({"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}],"usage":{"input":20001,"output":10}})",
       R"({"text":"never asked"})"},
      "tiny");
  EXPECT_EQ(run().reason, Reason::context_exhausted);
  EXPECT_EQ(report_of_child().steps, 2);
}

TEST_F(AChild, ThatADelegateCallMadeIsNotOfferedTaskCompletion) {
  world.script =
      R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[{"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"p"}]}}]},{"text":"over"}]},{"match":{"depth":1},"replies":[{"calls":[{"name":"task_completion","arguments":{"status":"completed","summary":"s"}}]},{"text":"well then"}]}]})";
  EXPECT_EQ(run().body, "well then");
  EXPECT_THAT(child_told(0), HasSubstr("You have no tool named 'task_completion'"));
}

TEST_F(AChild, BlockedNamesItsBlocker) {
  replies(
      {completion(R"({"status":"blocked","summary":"cannot push"})"),
       completion(
           R"({"status":"blocked","summary":"cannot push","errors":[{"type":"access","message":"the branch is protected"}]})")});
  const Report report = run();
  EXPECT_EQ(report.status, Status::blocked);
  EXPECT_EQ(report.reason, Reason::reported);
  EXPECT_THAT(child_told(0), HasSubstr("Name what blocks you"));
  EXPECT_THAT(told(), AllOf(HasSubstr("Status: blocked"), HasSubstr("the branch is protected")));
}

TEST_F(AChild, AnArtifactThatDoesNotExistIsStruckAndNamedInErrors) {
  replies({completion(
      R"({"status":"completed","summary":"s","artifacts":[{"path":"a.txt"},{"path":"/work/a.txt"},{"path":"gone.txt"},{"path":"../home/errors.jsonl"}]})")});
  const Report report = run();
  EXPECT_EQ(report.status, Status::completed);
  ASSERT_EQ(report.artifacts.size(), 2u);
  EXPECT_EQ(report.artifacts[0].path, "a.txt");
  ASSERT_EQ(report.errors.size(), 2u);
  EXPECT_THAT(report.errors[0].message, HasSubstr("gone.txt"));
  EXPECT_THAT(report.errors[1].message, HasSubstr("../home"));
  EXPECT_THAT(told(), AllOf(HasSubstr("Artifacts:\n- a.txt"), HasSubstr("'gone.txt'")));
}

TEST_F(AChild, FilesChangedAndCommandsRunComeFromTheLedgerNotFromItsWords) {
  replies({call("Write", R"({"file_path":"b.txt","content":"x"})"),
           call("Bash", R"({"command":"make test"})"),
           completion(R"({"status":"completed","summary":"I changed nothing and all tests pass"})")});
  const Report report = run();
  EXPECT_EQ(report.files, (std::vector<FileChange>{{"/work/b.txt", "", sha256_hex("x")}}));
  EXPECT_EQ(report.commands, (std::vector<CommandRun>{{"make test", 3}}));
  EXPECT_THAT(told(), AllOf(HasSubstr("/work/b.txt made, sha256 " + sha256_hex("x").substr(0, 12)),
                            HasSubstr("- make test → exit status 3")));
}

TEST_F(AChild, TheEndOfACommandInTheBackgroundIsInTheLedgerToo) {
  const std::vector<std::string> script{call("Bash", R"({"command":"make","run_in_background":true})"),
                                        call("task_status", R"({"wait_seconds":60})"), kDone};
  program_takes = std::chrono::seconds(5);
  replies(script);
  EXPECT_EQ(run().commands, (std::vector<CommandRun>{{"make", 3}}));
  EXPECT_THAT(told(), HasSubstr("- make → exit status 3"));

  world = {};
  program_takes = std::chrono::hours(1);
  replies(script);
  EXPECT_EQ(run().commands, (std::vector<CommandRun>{{"make", std::nullopt}}))
      << "it was ended with its session";
}

}  // namespace
}  // namespace deputy
