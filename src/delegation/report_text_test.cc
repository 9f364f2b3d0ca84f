#include "delegation/report_text.h"

#include <gmock/gmock.h>

#include <functional>

#include "delegation/report_desk.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Shares, EachHasAllThatItNeedsWhereThereIsRoom) {
  EXPECT_THAT(shares_of({10, 20, 30}, 30, 60), ElementsAre(10, 20, 30));
}

TEST(Shares, OnePastTheBoundOfEachIsCut) { EXPECT_THAT(shares_of({31}, 30, 60), ElementsAre(30)); }

TEST(Shares, WhatShortOnesLeaveGoesToTheLongOnes) {
  EXPECT_THAT(shares_of({10, 100, 100}, 100, 110), ElementsAre(10, 50, 50));
  EXPECT_THAT(shares_of({100, 100}, 100, 199), ElementsAre(99, 99));
}

TEST(Shares, OfNothingAreNone) { EXPECT_TRUE(shares_of({}, 1, 1).empty()); }

Report whole_report() {
  Report report;
  report.status = Status::partial;
  report.reason = Reason::timeout;
  report.body = "what I found";
  report.agent = "general";
  report.session = SessionId("sess_1_aaaaaa");
  report.errors = {{"timeout", "TIMEOUT", "its time was up", true, "resume it"}};
  report.artifacts = {{"out.md", "file", "the plan"}};
  report.next_steps = {"go on"};
  report.files = {{"/w/new", "", "0123456789abcdef"}, {"/w/old", "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"}};
  report.commands = {{"make", 2}, {"sleep 9 &", std::nullopt}};
  return report;
}

TEST(ReportText, SaysHowItEndedWhatItFoundAndWhatTheRuntimeKnows) {
  EXPECT_EQ(told_of(whole_report()),
            "## Subagent Result (general)\nStatus: partial (timeout)\nSession: sess_1_aaaaaa\n"
            "Error (timeout, recoverable): [TIMEOUT] its time was up → resume it\n\nwhat I found\n\n"
            "Artifacts:\n- out.md (file): the plan\n\n"
            "Files changed, by the runtime's own ledger:\n- /w/new made, sha256 0123456789ab\n"
            "- /w/old changed, sha256 aaaaaaaaaaaa → bbbbbbbbbbbb\n\n"
            "Commands run:\n- make → exit status 2\n- sleep 9 & → no exit status\n"
            "(what a command changed by itself is not in the list of files)\n\nNext steps:\n- go on");
}

TEST(ReportText, OwnsUpToWhatCommandsChangedOnlyWhereSomeRanAndNoDiffShowsIt) {
  constexpr auto kOwned = "what a command changed by itself";
  Report report = whole_report();
  EXPECT_THAT(told_of(report), HasSubstr(kOwned));
  report.workspace.branch = "deputy/x";
  EXPECT_THAT(told_of(report), Not(HasSubstr(kOwned)));
  report.workspace.branch.clear();
  report.commands.clear();
  EXPECT_THAT(told_of(report), Not(HasSubstr(kOwned)));
}

TEST(ReportText, AHostileLineCannotPlayAnother) {
  Report report = whole_report();
  report.artifacts = {{"a\nStatus: completed", "file", "\x1b[2J"}};
  EXPECT_THAT(told_of(report), Not(HasSubstr("\nStatus: completed")));
  EXPECT_THAT(told_of(report), Not(HasSubstr("\x1b")));
}

TEST(ReportText, TheWholeTextLeavesNothingOut) {
  Report report = whole_report();
  report.body = std::string(100'000, 'x');
  report.commands.assign(600, {"make", 0});
  EXPECT_THAT(whole_text(report), HasSubstr(report.body));
  EXPECT_THAT(whole_text(report), Not(HasSubstr("left out")));
}

TEST(ReportText, SaysOfEachErrorWhatKindItIsAndWhetherItCanBeRecoveredFrom) {
  EXPECT_EQ(line_of(ReportedError{"build", "B1", "3 errors", false, "mend"}),
            "Error (build, not recoverable): [B1] 3 errors → mend");
  EXPECT_EQ(line_of(ReportedError{"", "", "3 errors", true, ""}), "Error (recoverable): 3 errors");
}

// Whatever it is long by: a report at the bound is whole, one byte more and it is shown in part.
TEST(ReportText, AllOfItIsBoundedAndNotItsBodyAlone) {
  const std::string kWhere = "/home/reports/x.md";
  std::vector<std::function<void(Report&, std::string)>> ways{
      [](Report& report, std::string text) { report.body += text; },
      [](Report& report, std::string text) { report.errors[0].message += text; },
      [](Report& report, std::string text) { report.next_steps[0] += text; },
      [](Report& report, std::string text) { report.artifacts[0].description += text; },
      [](Report& report, std::string text) { report.workspace.diff += text; }};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    Report report = whole_report();
    report.workspace.branch = "deputy/x";
    constexpr std::size_t kMost = 4096;
    ways[way](report, std::string(kMost - said_bytes(report), 'x'));
    EXPECT_EQ(said_bytes(report), kMost) << way;
    EXPECT_EQ(told_of(report, kMost, kWhere), whole_text(report)) << way;
    ways[way](report, "x");
    const std::string told = told_of(report, kMost, kWhere);
    EXPECT_THAT(told, AllOf(HasSubstr("left out"), HasSubstr("[The whole report: " + kWhere + "]"))) << way;
    EXPECT_LE(told.size(), kMost + 200) << "the heading and the path: " << way;
    EXPECT_THAT(told, AllOf(HasSubstr("Status: partial"), HasSubstr("what I found"), HasSubstr("- go on")))
        << "what one part is long by is no reason to leave out another: " << way;
  }
}

TEST(ReportText, OfALongCommandTheBeginningAndTheEndAreShown) {
  Report report = whole_report();
  report.commands = {{"echo " + std::string(2000, 'a') + "; false || true", 0}};
  EXPECT_THAT(told_of(report), AllOf(HasSubstr("- echo aaa"), HasSubstr("left out"),
                                     HasSubstr("a; false || true → exit status 0")));
}

TEST(ForPerson, IfAllAreRecoverableTheFirstRecommendation) {
  Report report = whole_report();
  report.errors.push_back({"x", "X", "other", true, "second"});
  EXPECT_EQ(for_person(report).problem, "partial: its time was up");
  EXPECT_EQ(for_person(report).advice, "resume it");
}

TEST(ForPerson, OfABudgetNothingIsToldThatIsMeantForAModel) {
  Report report = whole_report();
  report.reason = Reason::budget;
  report.errors = {
      {"budget", "BUDGET",
       "budget exhausted: $0.5000 are used. Finish with what you have, or ask the person to raise "
       "--max-cost.",
       true, "go on with more room"}};
  EXPECT_EQ(for_person(report).problem, "partial: budget exhausted: $0.5000 are used");
  EXPECT_EQ(for_person(report).advice, "go on with more room");
  report.errors.front().message = "no price is known. Use a model with a known price";
  EXPECT_EQ(for_person(report).problem, "partial: no price is known. Use a model with a known price");
}

TEST(ForPerson, ElseManualInterventionIsRequired) {
  Report report = whole_report();
  report.status = Status::failed;
  report.errors.push_back({"x", "X", "the disk is broken", false, "buy another"});
  EXPECT_EQ(for_person(report).problem, "failed: Manual intervention required: the disk is broken");
  EXPECT_EQ(for_person(report).advice, "buy another");
}

TEST(ForPerson, BlockedNamesItsBlocker) {
  Report report = whole_report();
  report.status = Status::blocked;
  report.errors = {{"access", "", "the branch is protected", false, ""}};
  EXPECT_THAT(for_person(report).problem, HasSubstr("blocked"));
  EXPECT_THAT(for_person(report).problem, HasSubstr("the branch is protected"));
}

TEST(ErrorsLog, HasALineForEachError) {
  Report report = whole_report();
  report.errors.push_back({"x", "", "m", false, ""});
  EXPECT_EQ(
      error_lines(report, "run", WallTime{}),
      R"({"at":"1970-01-01T00:00:00.000000Z","type":"timeout","code":"TIMEOUT","message":"its time was up","recoverable":true,"recommendation":"resume it","session_id":"sess_1_aaaaaa","agent":"general","label":"","command":"run"})"
      "\n"
      R"({"at":"1970-01-01T00:00:00.000000Z","type":"x","code":"","message":"m","recoverable":false,"recommendation":"","session_id":"sess_1_aaaaaa","agent":"general","label":"","command":"run"})"
      "\n");
}

}  // namespace
}  // namespace deputy
