#include "delegation/report_text.h"

#include <gmock/gmock.h>

#include "delegation/report_desk.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Report sized(std::size_t bytes) {
  Report report;
  report.body = std::string(bytes, 'x');
  return report;
}

TEST(ReportShares, EachHasAllThatItNeedsWhereThereIsRoom) {
  EXPECT_THAT(shares_of({sized(10), sized(20), sized(30)}, {.report_bytes = 30, .batch_bytes = 60}),
              ElementsAre(10, 20, 30));
}

TEST(ReportShares, OnePastTheReportsBoundIsCut) {
  EXPECT_THAT(shares_of({sized(31)}, {.report_bytes = 30, .batch_bytes = 60}), ElementsAre(30));
}

TEST(ReportShares, WhatShortOnesLeaveGoesToTheLongOnes) {
  EXPECT_THAT(shares_of({sized(10), sized(100), sized(100)}, {.report_bytes = 100, .batch_bytes = 110}),
              ElementsAre(10, 50, 50));
  EXPECT_THAT(shares_of({sized(100), sized(100)}, {.report_bytes = 100, .batch_bytes = 199}),
              ElementsAre(99, 99));
}

TEST(ReportShares, OfNothingAreNone) { EXPECT_TRUE(shares_of({}, {}).empty()); }

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
            "Error: [TIMEOUT] its time was up → resume it\n\nwhat I found\n\n"
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
  report.commands.assign(60, {"make", 0});
  EXPECT_THAT(whole_text(report), HasSubstr(report.body));
  EXPECT_THAT(whole_text(report), Not(HasSubstr("more")));
  EXPECT_THAT(told_of(report), HasSubstr("and 10 more"));
}

TEST(ForPerson, IfAllAreRecoverableTheFirstRecommendation) {
  Report report = whole_report();
  report.errors.push_back({"x", "X", "other", true, "second"});
  EXPECT_EQ(for_person(report).problem, "partial: its time was up");
  EXPECT_EQ(for_person(report).advice, "resume it");
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
