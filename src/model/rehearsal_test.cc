#include "model/rehearsal.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "base/json.h"
#include "base/text.h"
#include "model/rehearsal_plan.h"
#include "model/rehearsal_report.h"
#include "model/rehearsal_stage.h"
#include "support/run.h"
#include "transcript/event.h"

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::map<std::string, std::string> a_project() {
  return {
      {"README.md", "\n# Bridge\n\nBuilds bridges.\n"},
      {"CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(bridge)\n"},
      {"src/main.cc", "#include <x>\n\nint main() {\n  return build();\n}\n"},
      {"src/build.cc", "// TODO: test the arch\nint arch() { return 0; }\n// FIXME leaks\n\nvoid beam();\n"},
      {"src/shell.cc", "int f() { return system(\"ls\"); }\nconst char* password = \"hunter2\";\n"},
      {"logo.png", std::string("\0PNG", 4)},
      {"docs/long.md", [] {
         std::string text;
         for (int i = 1; i <= 300; ++i) text += "line\n";
         return text;
       }()}};
}

TEST(Rehearsal, SurveysAFolderAndCitesWhatExplainsIt) {
  Stage stage(a_project());
  stage.tools.push_back(Stage::offer("List", "path"));
  const std::string report = stage.play(demo_tasks()[0].prompt);
  EXPECT_EQ(stage.course(), "Glob List | Read Read Read | Note");
  EXPECT_THAT(report, HasSubstr("7 files: 3 .cc, 2 .md"));
  EXPECT_THAT(report, HasSubstr("by folder: 3 src/, 1 docs/"));
  EXPECT_THAT(report, HasSubstr("- README.md:2 — # Bridge\n"));
  EXPECT_THAT(report, HasSubstr("- CMakeLists.txt:2 — project(bridge)\n"));
  EXPECT_THAT(report, HasSubstr("- src/main.cc:3 — int main() {\n"));
  stage.expect_cites_exist(report, 3);
}

TEST(Rehearsal, FindsWhatIsUnfinishedAndReadsAroundIt) {
  Stage stage(a_project());
  const std::string report = stage.play(demo_tasks()[1].prompt);
  EXPECT_EQ(stage.course(), "Grep Glob | Read Read | Note");
  EXPECT_THAT(report, HasSubstr("2 lines in 1 file (7 files searched): 1 FIXME, 1 TODO."));
  EXPECT_THAT(
      report,
      HasSubstr("- src/build.cc:3 — // FIXME leaks (above `void beam();`)\n- src/build.cc:1 — // TODO"));
  stage.expect_cites_exist(report, 2);
}

TEST(Rehearsal, FindsWhatIsLargeOrRiskyAndKeepsSecretsToItself) {
  Stage stage(a_project());
  const std::string report = stage.play(demo_tasks()[2].prompt);
  EXPECT_EQ(stage.course(), "Grep Grep | Read Read Read | Note");
  EXPECT_THAT(report, HasSubstr("- docs/long.md:300 — 300 lines, the longest file seen\n"));
  EXPECT_THAT(report, HasSubstr("- src/shell.cc:1 — system(: int f()"));
  EXPECT_THAT(report, HasSubstr("- src/shell.cc:2 — password: const char* password ="));
  EXPECT_THAT(report, Not(HasSubstr("hunter2")));
  stage.expect_cites_exist(report, 3);
}

TEST(Rehearsal, CountsAddUpAlsoWhereNotAllLinesWereShown) {
  Findings findings;
  findings.hits = {{"a.cc", 1, "eval(x)"}, {"a.cc", 2, "system(y)"}, {"b.cc", 7, "eval(z)"}};
  findings.in_hits = {.lines = 3, .files = 2};
  findings.in_lengths = {.lines = 1'200, .files = 97};
  Plan plan;
  plan.inquiry = Inquiry::risky;
  EXPECT_THAT(report_text(plan, findings, {}),
              HasSubstr("3 lines in 2 files (97 text files with 1,200 lines searched): 2 eval(, 1 system(."));
  findings.in_hits.lines = 100;
  EXPECT_THAT(report_text(plan, findings, {}),
              HasSubstr("100 lines in 2 files (97 text files with 1,200 lines searched): 2 eval(, 1 system(, "
                        "97 others."));
  findings.in_hits.lines = 4;
  EXPECT_THAT(report_text(plan, findings, {}), HasSubstr("1 system(, 1 other."));
}

TEST(Rehearsal, LooksForTheWordsOfAnyOtherBrief) {
  Stage stage(a_project());
  const std::string report = stage.play("Where is `arch` used, and what is in main.cc?");
  EXPECT_EQ(stage.course(), "Grep Glob | Read Read Read | Note");
  EXPECT_THAT(report, HasSubstr("- src/main.cc:3 — int main() {\n"));
  EXPECT_THAT(report, HasSubstr("- src/build.cc:2 — int arch() { return 0; }\n"));
  stage.expect_cites_exist(report, 3);
  EXPECT_THAT(Stage(a_project()).play("Where is `gondola` used?"),
              HasSubstr("Nothing found: no line with `gondola`."));
}

TEST(Rehearsal, EveryReportIsShortAndSaysWhoSpeaks) {
  std::map<std::string, std::string> many;
  for (int i = 0; i < 200; ++i)
    many["src/f" + std::to_string(i) + ".cc"] = "// TODO eval( unsafe arch\n" + std::string(300, 'x') + "\n";
  for (const std::string& prompt :
       {demo_tasks()[0].prompt, demo_tasks()[1].prompt, demo_tasks()[2].prompt, std::string("`arch`")}) {
    Stage stage(many);
    const std::string report = stage.play(prompt);
    EXPECT_LE(lines_of(report).size(), kMostReportLines) << report;
    EXPECT_THAT(report, HasSubstr("not a language model"));
    stage.expect_cites_exist(report, 1);
  }
}

TEST(Rehearsal, TheSameFolderGivesTheSameBytesAnotherFolderOthers) {
  Stage first(a_project());
  Stage again(a_project());
  Stage other({{"setup.py", "name = 'x'\n"}});
  const std::string report = first.play(demo_tasks()[0].prompt);
  EXPECT_EQ(report, again.play(demo_tasks()[0].prompt));
  EXPECT_EQ(first.messages, again.messages);
  EXPECT_NE(report, other.play(demo_tasks()[0].prompt));
}

TEST(Rehearsal, AnEmptyFolderIsNothingSpecial) {
  for (const RehearsalTask& task : demo_tasks()) {
    Stage stage({});
    EXPECT_THAT(stage.play(task.prompt), HasSubstr("Nothing here")) << task.label;
    EXPECT_THAT(stage.course(), Not(HasSubstr("Read")));
  }
}

TEST(Rehearsal, WithoutASearchItListsAndReads) {
  Stage stage(a_project());
  stage.tools.push_back(Stage::offer("List", "path"));
  stage.broken = {
      {"Grep", "Searching needs ripgrep (rg), which is not installed here. Use List and Read instead."},
      {"Glob", "Searching needs ripgrep (rg), which is not installed here. Use List and Read instead."}};
  const std::string report = stage.play(demo_tasks()[1].prompt);
  EXPECT_EQ(stage.course(), "Grep Glob | List | Read Read | Note");
  EXPECT_THAT(report, HasSubstr("Not searched for FIXME"));
  EXPECT_THAT(report, HasSubstr("Grep did not help: Searching needs ripgrep"));
  EXPECT_THAT(report, HasSubstr("- README.md:2 — # Bridge"));
}

TEST(Rehearsal, UsesOnlyWhatIsOffered) {
  Stage reader(a_project());
  reader.offer_only({"Read"});
  EXPECT_THAT(reader.play("What is here?"), HasSubstr("README.md:2"));
  EXPECT_EQ(reader.course(), "Read");
  Stage nothing(a_project());
  nothing.offer_only({});
  EXPECT_THAT(nothing.play("What is here?"), HasSubstr("Nothing here: no tool showed a file."));
  Stage searcher(a_project());
  searcher.offer_only({"Grep"});
  searcher.expect_cites_exist(searcher.play("What is unfinished?"), 2);
  EXPECT_EQ(searcher.course(), "Grep");
}

TEST(Rehearsal, SendsNoArgumentThatASchemaDoesNotKnow) {
  Stage stage(a_project());
  stage.tools = {Stage::offer("Grep", "pattern"), Stage::offer("Read", "file_path")};
  stage.say(demo_tasks()[2].prompt);
  EXPECT_THAT(stage.step().calls, testing::SizeIs(1)) << "no count without output_mode";
  for (const Call& call : stage.step().calls) EXPECT_THAT(call.arguments, Not(HasSubstr("offset")));
}

TEST(Rehearsal, ARootHandsAGeneralPromptToThreeChildrenAndMergesTheirReports) {
  Stage stage(a_project());
  stage.tools.push_back(Stage::offer("Delegate", "tasks concurrency return"));
  const std::string report = stage.play("Tell me about this project");
  EXPECT_EQ(stage.course(), "Delegate");
  EXPECT_THAT(report, HasSubstr("**survey** ✓\n\n7 files"));
  EXPECT_THAT(report, HasSubstr("3 children looked, 3 finished."));
  EXPECT_THAT(report, testing::ContainsRegex("\n\n- [^\n]*(\n- [^\n]*)*\n\n[0-9]+ files? read\\."))
      << "Markdown takes a line right below a list for its last item's";
  stage.expect_cites_exist(report, 6);
}

TEST(Rehearsal, ARootThatMayNotDelegateDoesTheWorkItself) {
  Stage stage(a_project());
  stage.tools.push_back(Stage::offer("Delegate", "tasks"));
  stage.broken["Delegate"] = "The person declined this call.";
  const std::string report = stage.play("Tell me about this project, in parallel");
  EXPECT_THAT(report, HasSubstr("Delegate did not help: The person declined this call.\n\n"))
      << "a paragraph of its own";
  EXPECT_THAT(report, HasSubstr("not a language model"));
}

TEST(Rehearsal, ANewQuestionAfterAReportBeginsAnew) {
  Stage stage(a_project());
  stage.play("Where is `arch` used?");
  const std::string report = stage.play("What is unfinished?");
  EXPECT_THAT(report, HasSubstr("FIXME"));
  EXPECT_THAT(stage.course(), HasSubstr("Note | Grep Glob"));
}

TEST(Rehearsal, HearsNudgesAndReportsAtOnceWhenTheRuntimeSaysSo) {
  Stage stage(a_project());
  stage.say("What is unfinished?");
  stage.step();
  stage.say("mind the arch", Source::person);
  stage.step();
  stage.say("This is your last step: report what you have.", Source::runtime);
  const Message last = stage.step();
  EXPECT_THAT(last.calls, testing::IsEmpty());
  EXPECT_THAT(last.text, HasSubstr("Told meanwhile: mind the arch"));
  EXPECT_THAT(last.text, HasSubstr("src/build.cc:3"));
}

TEST(Rehearsal, HandsTheReportInWhereTheRuntimeInsists) {
  Stage stage(a_project());
  stage.tools.push_back(Stage::offer("task_completion", "status summary body"));
  const std::string report = stage.play("What is unfinished?");
  stage.say("Finish by calling task_completion.", Source::runtime);
  const Message reply = stage.step();
  ASSERT_EQ(reply.calls.size(), 1U);
  EXPECT_EQ(reply.calls.front().name, "task_completion");
  const auto arguments = parse_json_object(reply.calls.front().arguments);
  EXPECT_EQ(string_or(*arguments, "body", ""), report);
  EXPECT_EQ(string_or(*arguments, "status", ""), "completed");
}

TEST(Rehearsal, SumsUpWhatWasAskedAndSaidWhereTheConversationIsCompacted) {
  Stage stage(a_project());
  stage.play("Where is `arch` used?");
  const std::string report = stage.play("What is unfinished?");
  stage.messages.push_back(wish_for_summary());
  const Message summary = stage.step();
  EXPECT_THAT(summary.calls, testing::IsEmpty());
  EXPECT_THAT(summary.text, HasSubstr("not a language model"));
  EXPECT_THAT(summary.text, HasSubstr("- asked: Where is `arch` used?\n- asked: What is unfinished?\n"));
  EXPECT_THAT(summary.text, HasSubstr("2 Note"));
  EXPECT_THAT(summary.text, HasSubstr(report));
}

TEST(Rehearsal, GoesOnFromASummaryWithWhatIsAskedBehindIt) {
  Stage stage(a_project());
  stage.play("Where is `arch` used?");
  stage.messages.push_back(wish_for_summary());
  const Message summary = stage.step();
  stage.messages = {summary_message(summary.text)};
  Stage same(a_project());
  EXPECT_EQ(stage.play("What is unfinished?"), same.play("What is unfinished?"));
  stage.messages.push_back(wish_for_summary());
  EXPECT_THAT(stage.step().text, HasSubstr("- asked: Where is `arch` used?\n- asked: What is unfinished?\n"))
      << "what the first summary stood for is in the second";
}

TEST(Rehearsal, BehindASummaryAloneItGoesOnWithWhatWasAskedLast) {
  Stage stage(a_project());
  stage.say("What is unfinished?");
  stage.step();
  stage.messages.push_back(wish_for_summary());
  const Message summary = stage.step();
  stage.messages = {summary_message(summary.text)};
  const Message reply = rehearsed(stage.tools, stage.messages, 2);
  ASSERT_FALSE(reply.calls.empty());
  EXPECT_THAT(reply.calls.front().arguments, HasSubstr("FIXME"));
  EXPECT_EQ(reply.calls.front().id, "call_2_0") << "no id is given twice";
}

TEST(Rehearsal, IsAProviderLikeAnyOther) {
  SimLoop loop(1);
  RehearsalProvider provider;
  Stage stage(a_project());
  stage.say("What is unfinished?");
  Request request;
  request.prefix = std::make_shared<RequestPrefix>(
      RequestPrefix{ModelName("rehearsal/1"), "You are a child.", stage.tools, 100});
  request.messages = stage.messages;
  std::string streamed;
  const Reply reply =
      run(loop,
          provider.ask(request,
                       [&streamed](const Delta& delta) { streamed += std::get<TextDelta>(delta).text; }, {}));
  EXPECT_EQ(reply.stop, ReplyStop::calls);
  EXPECT_EQ(reply.model, ModelName("rehearsal/1"));
  EXPECT_EQ(reply.usage.cost_micros, 0);
  EXPECT_GT(reply.usage.input, 0);
  EXPECT_GT(reply.usage.output, 0);
  EXPECT_EQ(streamed, reply.message.text);
  EXPECT_EQ(reply.message.calls.front().id, "call_0_0");
  StopSource stop;
  stop.request(StopReason::user);
  EXPECT_EQ(run(loop, provider.ask(request, {}, stop.token())).stop, ReplyStop::stopped);
}

}  // namespace
}  // namespace deputy
