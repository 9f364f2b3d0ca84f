// Reports at a limit, reports that are long, and where errors go; each test is named after the sentence of
// the contract that it shows.

#include "a_child.h"
#include "base/disk_names.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
  world = {};
  replies({call("Note", R"({"content":"found one"})"), R"({"text":"in time","first_byte_ms":50000})"},
          "general", R"(,"timeout":60)");
  EXPECT_EQ(run().body, "in time") << "control";
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
  const std::string beginning =
      fmt::format("/home/reports/{}/general-{}-", world.sessions().front().id.value, report.session.value);
  const std::string said = told();
  EXPECT_THAT(said, AllOf(HasSubstr("HEAD"), HasSubstr("TAIL"), HasSubstr("left out"),
                          HasSubstr("[The whole report: " + beginning)));
  const auto at = said.find(beginning);
  ASSERT_NE(at, std::string::npos);
  const std::string path = said.substr(at, said.find(']', at) - at);
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

TEST_F(AChild, AReportThatIsLongByItsErrorsAndNextStepsIsBoundedAndSpilledToo) {
  std::string steps;
  for (int i = 0; i < 40; ++i) steps += fmt::format(R"({}"{}")", i ? "," : "", std::string(5000, 's'));
  replies({completion(fmt::format(
      R"({{"status":"failed","summary":"s","body":"the body","errors":[{{"type":"t","message":"{}"}}],"next_steps":[{}]}})",
      std::string(200'000, 'm'), steps))});
  run();
  EXPECT_LE(told().size(), 33u * 1024);
  EXPECT_THAT(told(), AllOf(HasSubstr("the body"), HasSubstr("[The whole report: /home/reports/")));
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
  const auto [folder, file] = split_name(path);
  world = {};  // the same once more: ids depend on the seed alone
  replies({long_text});
  world.script = fmt::format(
      R"({{"v":1,"sessions":[{{"match":{{"depth":0}},"replies":[{{"calls":[{{"name":"task","arguments":{{"agent":"general","prompt":"go"}}}}]}},{},{},{},{},{{"text":"over"}}]}},{{"match":{{"label":"again"}},"replies":[{{"text":"seen"}}]}},{{"match":{{"depth":1}},"replies":[{}]}}]}})",
      call("Read", fmt::format(R"({{"file_path":"{}"}})", path)),
      call("Read", R"({"file_path":"/home/subagent"})"),
      call("Grep", fmt::format(R"({{"pattern":"x","path":"{}"}})", folder)),
      call("Delegate",
           fmt::format(R"({{"tasks":[{{"label":"again","prompt":"p","context":["{}"]}}]}})", path)),
      long_text);
  Life life(world, options);
  life.processes().define("rg", [file](const ProcessSpec&) {
    return ProcessResult{
        .exit_status = 0,
        .output = fmt::format(
            R"({{"type":"match","data":{{"path":{{"text":"./{}"}},"lines":{{"text":"x\n"}},"line_number":1,"submatches":[]}}}})"
            "\n",
            file)};
  });
  ASSERT_TRUE(life.start(life.brief("go")));
  EXPECT_THAT(parent_told(1), HasSubstr(std::string(101, 'x')));
  EXPECT_THAT(parent_told(2), Not(HasSubstr("transcript")));
  EXPECT_THAT(parent_told(3), AllOf(HasSubstr("1 matching line"), Not(HasSubstr("withheld"))));
  EXPECT_THAT(parent_told(4), AllOf(HasSubstr("seen"), Not(HasSubstr("kept back"))));
  EXPECT_THAT(world.sessions().back().prompt, HasSubstr(std::string(101, 'x')));
}

TEST_F(AChild, ErrorsTravelUpUnshortenedInStructure) {
  const std::string message(3000, 'm');
  replies({completion(fmt::format(
      R"({{"status":"failed","summary":"s","errors":[{{"type":"build_error","code":"B1","message":"{}","recoverable":false,"recommendation":"mend the build"}}]}})",
      message))});
  const Report report = run();
  EXPECT_EQ(report.errors,
            (std::vector<ReportedError>{{"build_error", "B1", message, false, "mend the build"}}));
  EXPECT_THAT(told(), AllOf(HasSubstr("Error (build_error, not recoverable): [B1] " + message),
                            HasSubstr("mend the build")));
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
