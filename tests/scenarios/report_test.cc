// What a child's report is and where it goes, on the whole runtime; each test is named after the sentence of
// the contract that it shows.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kDone =
    R"({"calls":[{"name":"task_completion","arguments":{"status":"completed","summary":"did it","body":"All of it."}}]})";

std::string completion(std::string_view arguments) {
  return fmt::format(R"({{"calls":[{{"name":"task_completion","arguments":{}}}]}})", arguments);
}
std::string call(std::string_view tool, std::string_view arguments) {
  return fmt::format(R"({{"calls":[{{"name":"{}","arguments":{}}}]}})", tool, arguments);
}

// A parent that hands one task to `agent`, whose model gives these replies.
class AChild : public testing::Test {
 protected:
  void replies(const std::vector<std::string>& replies, std::string_view agent = "general",
               std::string_view more = "") {
    std::string list;
    for (const auto& reply : replies) list += (list.empty() ? "" : ",") + reply;
    world.script = fmt::format(
        R"({{"v":1,"sessions":[{{"match":{{"depth":0}},"replies":[{{"calls":[{{"name":"task","arguments":{{"agent":"{}","prompt":"go"{}}}}}]}},{{"text":"over"}}]}},{{"match":{{"depth":1}},"replies":[{}]}}]}})",
        agent, more, list);
    world.write_file("a.txt", "alpha\n");
  }
  Report run() {
    Life life(world, options);
    life.processes().define("bash", program, program_takes);
    const auto root = life.start(life.brief("go"));
    EXPECT_TRUE(root) << root.error().message;
    return report_of_child();
  }
  Report report_of_child() const {
    for (const auto& event : world.memory->journal) {
      const auto* ended = std::get_if<RunEnded>(&event.fact);
      if (ended && ended->report.depth == 1) return ended->report;
    }
    ADD_FAILURE() << "the child never ended";
    return {};
  }
  // What the parent's model was told.
  std::string told() const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && event.run.session == world.sessions().front().id) return finished->result.content;
    }
    return "(nothing)";
  }
  std::string parent_told(int step) const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && event.step == step && event.run.session == world.sessions().front().id)
        return finished->result.content;
    }
    return "(nothing)";
  }
  // What the child's model was told by its call in this step.
  std::string child_told(int step, int index = 0) const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && world.memory->sessions.at(event.run.session).depth == 1 && event.step == step &&
          event.call == index)
        return finished->result.content;
    }
    return "(nothing)";
  }
  std::string errors_log() { return world.disk.files()["/home/errors.jsonl"]; }

  SimWorld world;
  Life::Options options;
  SimProcesses::Program program = [](const ProcessSpec&) { return ProcessResult{.exit_status = 3}; };
  Duration program_takes{};
};

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
                      {.name = "tiny", .tools = {"Read", "Note"}, .max_context_tokens = 1000}};
  const std::string note = call("Note", R"({"content":"kept"})");
  replies({note, note, R"({"text":"never asked"})"}, "small");
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_EQ(report.reason, Reason::context_exhausted);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.body, "kept\nkept");
  world = {};
  replies(
      {R"({"calls":[{"name":"Note","arguments":{"content":"kept"}}],"usage":{"input":900,"output":10}})",
       R"({"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}],"usage":{"input":1001,"output":10}})",
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

TEST_F(AChild, ReachingItsStepLimitIsPartialWithOneGraceStepToReport) {
  replies({call("Read", R"({"file_path":"a.txt"})"), kDone}, "general", R"(,"max_turns":1)");
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_EQ(report.reason, Reason::max_turns);
  EXPECT_EQ(report.body, "All of it.");
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(world.sessions().back().state, SessionState::partial);
}

TEST_F(AChild, InItsGraceStepOnlyNoteAndTaskCompletionRun) {
  replies(
      {call("Read", R"({"file_path":"a.txt"})"),
       R"({"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}},{"name":"Note","arguments":{"content":"half way"}}]})"},
      "general", R"(,"max_turns":1)");
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_THAT(child_told(1, 0), HasSubstr("Not run"));
  EXPECT_EQ(child_told(1, 1), "Noted.");
  EXPECT_EQ(report.body, "half way");
  EXPECT_FALSE(world.disk.files().contains("/work/b.txt"));
}

TEST_F(AChild, TimeoutHandlingIsPartialWithWhatExistsWhileACallWasRunning) {
  program_takes = std::chrono::seconds(3600);
  replies({call("Note", R"({"content":"found one"})"), call("Bash", R"({"command":"sleep 3600"})"),
           R"({"text":"I got as far as one.","expect":{"contains":"last step"}})"},
          "general", R"(,"timeout":60)");
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_EQ(report.reason, Reason::timeout);
  EXPECT_EQ(report.errors.front().type, "timeout");
  EXPECT_TRUE(report.errors.front().recoverable);
  EXPECT_THAT(report.errors.front().recommendation, HasSubstr("resume " + report.session.value));
  EXPECT_EQ(report.body, "found one\n\nI got as far as one.");
  EXPECT_THAT(child_told(1), HasSubstr("Stopped"));
  EXPECT_LT(report.duration, std::chrono::seconds(130));
}

TEST_F(AChild, ThatUsesUpItsGraceTimeIsEndedWithWhatExists) {
  replies({call("Note", R"({"content":"found one"})"), R"({"text":"too late","first_byte_ms":60000000})",
           R"({"text":"too late","first_byte_ms":60000000})"},
          "general", R"(,"timeout":60)");
  const Report report = run();
  EXPECT_EQ(report.reason, Reason::timeout);
  EXPECT_EQ(report.body, "found one");
}

TEST_F(AChild, AtContextExhaustionThereIsNoGraceStep) {
  replies({call("Note", R"({"content":"found one"})"),
           R"({"error":{"kind":"context_exhausted","message":"full"}})"});
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_EQ(report.reason, Reason::context_exhausted);
  EXPECT_EQ(report.steps, 2);
}

TEST_F(AChild, PartialResultsIncludeScratchpadContent) {
  replies({call("Note", R"({"content":"one"})"), call("Note", R"({"content":"two"})"),
           R"({"error":{"kind":"context_exhausted","message":"full"}})"});
  EXPECT_EQ(run().body, "one\ntwo");
  EXPECT_THAT(told(), HasSubstr("one\ntwo"));
}

TEST_F(AChild, TheSameCallThreeTimesInARowIsWarnedOf) {
  const std::string read = call("Read", R"({"file_path":"a.txt"})");
  replies({read, read, read, R"({"text":"enough","expect":{"contains":"3 times in a row"}})"});
  EXPECT_EQ(run().status, Status::completed);
  EXPECT_THAT(world.transcript("general"), HasSubstr("3 times in a row"));
}

TEST_F(AChild, TheSameCallFiveTimesInARowEndsItPartial) {
  const std::string read = call("Read", R"({"file_path":"a.txt"})");
  replies({read, read, read, read, read, R"({"text":"never asked"})"});
  const Report report = run();
  EXPECT_EQ(report.status, Status::partial);
  EXPECT_EQ(report.reason, Reason::repetition);
  EXPECT_EQ(report.steps, 5);
}

TEST_F(AChild, TheSameCallIsCountedAcrossCrashAndResume) {
  const std::string read = call("Read", R"({"file_path":"a.txt"})");
  for (int at = 1; at <= 12; ++at) {
    world = {};
    replies({read, read, read, read, read, R"({"text":"never asked"})"});
    {
      Life life(world, {.crash = {.at_record = at}});
      (void)life.start(life.brief("go"));
    }
    if (world.sessions().empty()) continue;
    Life again(world, {});
    ASSERT_TRUE(again.resume(world.sessions().front().id)) << at;
    EXPECT_EQ(report_of_child().reason, Reason::repetition) << at;
    EXPECT_EQ(report_of_child().steps, 5) << at;
  }
}

TEST_F(AChild, ALongReportIsSpilledWholeWithHeadTailAndPathGiven) {
  const auto text = [](std::size_t n) {
    return fmt::format(R"({{"text":"HEAD{}TAIL"}})", std::string(n - 8, 'x'));
  };
  replies({text(32 * 1024)});
  run();
  EXPECT_THAT(told(), Not(HasSubstr("The whole report")));
  world = {};
  replies({text(32 * 1024 + 1)});
  const Report report = run();
  const std::string path =
      fmt::format("/home/reports/{}/general-{}.md", world.sessions().front().id.value, report.session.value);
  EXPECT_THAT(told(), AllOf(HasSubstr("HEAD"), HasSubstr("TAIL"), HasSubstr("left out"),
                            HasSubstr("[The whole report: " + path + "]")));
  EXPECT_THAT(world.disk.files()[path], HasSubstr(report.body));
}

TEST_F(AChild, ABatchIsBoundedAsAWholeAndSpillsWhatDoesNotFit) {
  const std::string script = fmt::format(
      R"({{"v":1,"sessions":[{{"match":{{"depth":0}},"replies":[{{"calls":[{{"name":"Delegate","arguments":{{"tasks":[{{"label":"a","prompt":"p"}},{{"label":"b","prompt":"p"}},{{"label":"c","prompt":"p"}}]}}}}]}},{{"text":"over"}}]}},{{"match":{{"label":"a"}},"replies":[{{"text":"{}"}}]}},{{"match":{{"label":"b"}},"replies":[{{"text":"{}"}}]}},{{"match":{{"label":"c"}},"replies":[{{"text":"short"}}]}}]}})",
      std::string(747, 'a'), std::string(748, 'b'));
  for (const std::size_t bytes : {1500u, 1499u}) {  // 747 + 748 + 5 is exactly what the first may hold
    world = {};
    world.script = script;
    options.reports = {.report_bytes = 1000, .batch_bytes = bytes};
    Life life(world, options);
    ASSERT_TRUE(life.start(life.brief("go")));
    EXPECT_THAT(told(), HasSubstr(std::string(747, 'a')));
    EXPECT_EQ(told().contains(std::string(748, 'b')), bytes == 1500u);
    EXPECT_EQ(told().contains("[The whole report: /home/reports/"), bytes == 1499u);
  }
}

TEST_F(AChild, TheParentMayReadWhatWasSpilledForItAndNothingElseOfTheState) {
  options.reports = {.report_bytes = 100, .batch_bytes = 100};
  const std::string long_text = fmt::format(R"({{"text":"{}"}})", std::string(101, 'x'));
  replies({long_text});
  run();
  const std::string told_first = told();
  const std::string marker = "[The whole report: ";
  ASSERT_THAT(told_first, HasSubstr(marker));
  const std::size_t at = told_first.find(marker) + marker.size();
  const std::string path = told_first.substr(at, told_first.find(']', at) - at);
  world = {};  // the same once more: ids depend on the seed alone
  replies({long_text});
  world.script = fmt::format(
      R"({{"v":1,"sessions":[{{"match":{{"depth":0}},"replies":[{{"calls":[{{"name":"task","arguments":{{"agent":"general","prompt":"go"}}}}]}},{},{},{{"text":"over"}}]}},{{"match":{{"depth":1}},"replies":[{}]}}]}})",
      call("Read", fmt::format(R"({{"file_path":"{}"}})", path)),
      call("Read", R"({"file_path":"/home/subagent"})"), long_text);
  run();
  EXPECT_THAT(parent_told(1), HasSubstr(std::string(101, 'x')));
  EXPECT_THAT(parent_told(2), Not(HasSubstr("transcript")));
}

TEST_F(AChild, ErrorsTravelUpUnshortenedInStructure) {
  const std::string message(3000, 'm');
  replies({completion(fmt::format(
      R"({{"status":"failed","summary":"s","errors":[{{"type":"build_error","code":"B1","message":"{}","recoverable":false,"recommendation":"mend the build"}}]}})",
      message))});
  const Report report = run();
  EXPECT_EQ(report.errors,
            (std::vector<ReportedError>{{"build_error", "B1", message, false, "mend the build"}}));
  EXPECT_THAT(told(), AllOf(HasSubstr("[B1] " + message), HasSubstr("mend the build")));
}

TEST_F(AChild, ErrorsAreAppendedToTheErrorsLog) {
  replies({completion(
      R"({"status":"failed","summary":"s","errors":[{"type":"build_error","code":"BUILD_ERROR","message":"3 type errors","recoverable":true,"recommendation":"fix them"},{"type":"other","message":"m"}]})")});
  const Report report = run();
  EXPECT_EQ(report.errors.size(), 2u);
  const std::string log = errors_log();
  const auto lines = lines_of(log);
  ASSERT_EQ(lines.size(), 2u) << log;
  const auto line = parse_json_object(lines[0]);
  ASSERT_TRUE(line);
  EXPECT_EQ(string_at(*line, "type"), "build_error");
  EXPECT_EQ(string_at(*line, "code"), "BUILD_ERROR");
  EXPECT_EQ(string_at(*line, "message"), "3 type errors");
  EXPECT_EQ(string_at(*line, "session_id"), report.session.value);
  EXPECT_EQ(string_at(*line, "command"), "root");
}

TEST_F(AChild, ARefusalIsLoggedToo) {
  options.limits.depth = 0;
  replies({kDone});
  Life life(world, options);
  ASSERT_TRUE(life.start(life.brief("go")));
  EXPECT_THAT(errors_log(), HasSubstr("depth exceeded"));
}

TEST_F(AChild, ACompletedOneLogsNothing) {
  replies({kDone});
  run();
  EXPECT_EQ(errors_log(), "");
}

}  // namespace
}  // namespace deputy
