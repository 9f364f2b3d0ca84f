// How a run comes to its report: corrections, what broke off, evidence; all as a fold over events.

#include <gmock/gmock.h>

#include "agent/a_run.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

TEST_F(ARun, EndsWithTheReportThatItHandedIn) {
  completes(kGood);
  EXPECT_EQ(finish(), Finish{});
  EXPECT_EQ(report().summary, "all done");
  EXPECT_EQ(report().body, "the whole story");
  EXPECT_EQ(report().artifacts, (std::vector<Artifact>{{"a.txt", "file", "d"}}));
  EXPECT_EQ(report().next_steps, std::vector<std::string>{"merge it"});
  EXPECT_TRUE(report().errors.empty());
}

TEST_F(ARun, WhatItNotedStandsBeforeAReportThatIsNotComplete) {
  for (const auto* status : {"partial", "blocked", "failed", "completed"}) {
    conversation = {};
    apply_fact(NoteTaken{"half of it"});
    completes(R"({"status":")" + std::string(status) + R"(","summary":"s","body":"the rest"})");
    EXPECT_EQ(report().body, status == std::string_view("completed") ? "the rest" : "half of it\n\nthe rest")
        << status;
    EXPECT_EQ(report().summary, "s");
  }
}

TEST_F(ARun, NothingIsPutBeforeABodyThatIsData) {
  apply_fact(NoteTaken{"half of it"});
  completes(R"({"status":"partial","summary":"s","body":{"found":1}})");
  EXPECT_EQ(report().body, R"({"found":1})");
}

TEST_F(ARun, KeepsTheErrorsOfAReportInTheirStructure) {
  completes(
      R"({"status":"failed","summary":"it does not build","errors":[{"type":"build_error","code":"BUILD_ERROR",
    "message":"3 type errors","recoverable":true,"recommendation":"fix them"}]})");
  EXPECT_EQ(report().status, Status::failed);
  EXPECT_EQ(report().reason, Reason::reported);
  EXPECT_EQ(report().body, "it does not build");
  EXPECT_EQ(report().errors,
            (std::vector<ReportedError>{{"build_error", "BUILD_ERROR", "3 type errors", true, "fix them"}}));
}

TEST_F(ARun, MayCorrectItsReportTwice) {
  for (int refused = 1; refused <= 2; ++refused) {
    calls("task_completion", R"({"status":"done"})", ToolStatus::error, "status must be one of");
    EXPECT_TRUE(asks()) << refused;
  }
  calls("task_completion", R"({"status":"done!"})", ToolStatus::error, "status must be one of");
  EXPECT_EQ(finish().status, Status::failed);
  EXPECT_EQ(finish().reason, Reason::invalid_report);
  EXPECT_THAT(finish().error, HasSubstr("status must be one of"));
  EXPECT_EQ(report().body, R"({"status":"done!"})") << "the original is kept";
}

TEST_F(ARun, IsToldOfAllThatIsRefusedInOneStepBeforeThatCountsAsAnotherTry) {
  reply(ReplyStop::calls, "",
        {{"1", "task_completion", "{}"}, {"2", "task_completion", "[]"}, {"3", "task_completion", "0"}});
  for (int call = 0; call < 3; ++call)
    apply_fact(CallFinished{{std::to_string(call + 1), ToolStatus::error, "no"}}, call);
  EXPECT_TRUE(asks()) << "none of them was corrected yet";
  calls("task_completion", R"({"status":"done"})", ToolStatus::error, "no");
  EXPECT_TRUE(asks());
  calls("task_completion", R"({"status":"done!"})", ToolStatus::error, "no");
  EXPECT_EQ(finish().reason, Reason::invalid_report);
}

TEST_F(ARun, WhoseReportIsNotValidKeepsItsNotesToo) {
  apply_fact(NoteTaken{"a finding"});
  for (const auto* status : {"1", "2", "3"}) calls("task_completion", status, ToolStatus::error, "no");
  EXPECT_EQ(finish().reason, Reason::invalid_report);
  EXPECT_EQ(report().body, "a finding\n\n3");
}

TEST_F(ARun, AValidReportAfterTwoCorrectionsIsTaken) {
  for (int refused = 1; refused <= 2; ++refused)
    calls("task_completion", R"({"status":"done"})", ToolStatus::error, "no");
  completes(kGood);
  EXPECT_EQ(finish(), Finish{});
}

TEST_F(ARun, ThatOwesAReportIsToldSoAndPlainTextCountsAsACorrection) {
  limits.reporting = Reporting::demanded;
  says("I am done.");
  EXPECT_EQ(is_told(), Reason::invalid_report);
  EXPECT_TRUE(asks());
  says("Really.");
  EXPECT_EQ(is_told(), Reason::invalid_report);
  says("Believe me.");
  EXPECT_EQ(finish().reason, Reason::invalid_report);
  EXPECT_EQ(report().body, "Believe me.");
}

TEST_F(ARun, WithoutSuchADutyEndsWithItsText) {
  says("I am done.");
  EXPECT_EQ(finish(), Finish{});
  EXPECT_EQ(report().body, "I am done.");
}

TEST_F(ARun, WhoIsNotOfferedTheToolIsNotFailedForCallingIt) {
  limits.reporting = Reporting::none;
  for (int i = 0; i < 3; ++i)
    calls("task_completion", std::to_string(i), ToolStatus::error, "You have no tool named");
  EXPECT_TRUE(asks());
}

TEST_F(ARun, WhoseReplyBrokeOffKeepsTheLastWholeTextItsPieceAndWhatFollowed) {
  apply_fact(NoteTaken{"a note"});
  reply(ReplyStop::calls, "first", {{"1", "Read", "{}"}});
  apply_fact(CallFinished{{"1", ToolStatus::ok, "x"}}, 0);
  reply(ReplyStop::calls, "the analysis", {{"1", "Read", "{}"}});
  apply_fact(CallFinished{{"1", ToolStatus::ok, "y"}}, 0);
  apply_fact(RequestStopped{{}, "Now"});
  EXPECT_EQ(report_of(conversation, session, finish(StopReason::user), {}).body,
            "a note\n\nthe analysis\n\nNow");
  EXPECT_EQ(is_told(StopReason::deadline), Reason::timeout);
  says("the rest");
  EXPECT_EQ(report().body, "a note\n\nthe analysis\n\nNow\n\nthe rest");
  completes(kGood);
  EXPECT_EQ(report().body, "a note\n\nthe whole story") << "its own report says it all";
}

TEST_F(ARun, ThatGaveUpKeepsTheLastWholeTextToo) {
  for (const auto stop : {ReplyStop::failed, ReplyStop::stalled, ReplyStop::output_limit}) {
    conversation = {};
    reply(ReplyStop::calls, "the analysis", {{"1", "Read", "{}"}});
    apply_fact(CallFinished{{"1", ToolStatus::ok, "x"}}, 0);
    reply(stop, "Now");
    EXPECT_EQ(report().body, "the analysis\n\nNow") << name_of(stop);
  }
}

TEST_F(ARun, KeepsWhatBrokeOffInItAndNotInARunBeforeIt) {
  says("the former report");
  apply_fact(RunStarted{});
  apply_fact(RequestStopped{{}, "Now"});
  EXPECT_EQ(report_of(conversation, session, finish(StopReason::user), {}).body, "Now");
  apply_fact(RunStarted{});
  says("all of it");
  EXPECT_EQ(report().body, "all of it");
  EXPECT_EQ(report_of(conversation, session, finish(StopReason::user), {}).body, "all of it");
}

TEST_F(ARun, GoesOnWhenSomethingCameInAfterItsLastWord) {
  says("done");
  apply_fact(InputGiven{Source::parent, "one more thing"});
  EXPECT_TRUE(asks());
}

TEST_F(ARun, KnowsWhichFilesItChangedAndWhichCommandsItRan) {
  apply_fact(FileTouched{{"/w/read", "1", "1"}});
  apply_fact(FileTouched{{"/w/new", "", "a"}});
  apply_fact(FileTouched{{"/w/new", "a", "b"}});
  apply_fact(FileTouched{{"/w/back", "1", "2"}});
  apply_fact(FileTouched{{"/w/back", "2", "1"}});
  for (const std::optional<int> status : {std::optional(0), std::optional(2), std::optional<int>()}) {
    reply(ReplyStop::calls, "", {{"1", "Bash", R"({"command":"make"})"}});
    apply_fact(CallStarted{"Bash", "make"}, 0);
    apply_fact(CallFinished{{.call_id = "1", .content = "x", .exit_status = status}}, 0);
  }
  reply(ReplyStop::calls, "", {{"1", "Bash", R"({"command":"rm"})"}});
  apply_fact(CallFinished{{"1", ToolStatus::error, "Not permitted"}}, 0);
  says("done");
  EXPECT_EQ(report().files, (std::vector<FileChange>{{"/w/new", "", "b"}}));
  EXPECT_EQ(report().commands, (std::vector<CommandRun>{{"make", 0}, {"make", 2}, {"make", std::nullopt}}));
}

TEST_F(ARun, KeepsOfACommandWhatWasRunAndNotWhatIsShownOfIt) {
  const auto ledger_of = [this](const std::string& command) {
    reply(ReplyStop::calls, "", {{"1", "Bash", to_json_text(json::object{{"command", command}})}});
    apply_fact(CallStarted{"Bash", command.substr(0, 120)}, 0);
    apply_fact(CallFinished{{.call_id = "1", .content = "x", .exit_status = 0}}, 0);
    return conversation.commands.back().command;
  };
  const std::string whole = "echo " + std::string(4096 - 17, 'a') + "; f || true";
  ASSERT_EQ(whole.size(), 4095u);
  EXPECT_EQ(ledger_of(whole + "e"), whole + "e") << "at the bound";
  EXPECT_THAT(ledger_of("x" + whole + "e"),
              testing::AllOf(testing::StartsWith("xecho aa"), testing::HasSubstr("left out"),
                             testing::EndsWith("; f || truee")));
}

TEST_F(ARun, KnowsHowACommandInTheBackgroundEnded) {
  reply(ReplyStop::calls, "", {{"1", "Bash", R"({"command":"false","run_in_background":true})"}});
  apply_fact(CallStarted{"Bash", "false"}, 0);
  apply_fact(CallFinished{{.call_id = "1", .content = "started"}}, 0);
  const int started = conversation.step - 1;
  reply(ReplyStop::calls, "", {{"1", "Bash", R"({"command":"make"})"}});
  apply_fact(CallStarted{"Bash", "make"}, 0);
  apply_fact(CallFinished{{.call_id = "1", .content = "x", .exit_status = 0}}, 0);
  says("done");
  EXPECT_EQ(report().commands, (std::vector<CommandRun>{{"false", std::nullopt}, {"make", 0}}));
  Event end;
  end.step = started;
  end.call = 0;
  end.fact = CommandEnded{1};
  apply(conversation, end);
  EXPECT_EQ(report().commands, (std::vector<CommandRun>{{"false", 1}, {"make", 0}}));
}

TEST_F(ARun, LastsFromItsOwnStartAndNotFromThatOfARunBeforeIt) {
  using namespace std::chrono_literals;
  const auto start = [this](WallTime at) {
    Event event;
    event.at = at;
    event.fact = RunStarted{};
    apply(conversation, event);
  };
  const WallTime first{1h};
  start(first);
  start(first + 1min);  // gone on with after a crash
  says("done");
  Report ended = report_of(conversation, session, finish(), first + 2min);
  EXPECT_EQ(ended.started_at, first);
  EXPECT_EQ(ended.duration, 2min);
  apply_fact(RunEnded{ended});
  start(first + 48h);
  says("done again");
  ended = report_of(conversation, session, finish(), first + 48h + 3s);
  EXPECT_EQ(ended.started_at, first + 48h);
  EXPECT_EQ(ended.duration, 3s);
  apply_fact(RunEnded{ended});
  start({});  // stopped before there was a place for it: not recorded yet
  EXPECT_EQ(report_of(conversation, session, finish(StopReason::user), first + 50h).duration, 0s);
}

TEST_F(ARun, ThatSaidNothingDoesNotGiveTheTextOfOneBeforeIt) {
  says("all is well");
  apply_fact(RunEnded{report()});
  apply_fact(RunStarted{});
  apply_fact(InputGiven{Source::parent, "and now?"});
  reply(ReplyStop::finished, "");
  EXPECT_EQ(report().reason, Reason::no_text);
  EXPECT_THAT(report().body, testing::Not(HasSubstr("all is well")));
}

TEST_F(ARun, BlockedSaysWhetherItWasDeniedOrLeftWithoutAnAnswer) {
  const auto blocked =
      R"({"status":"blocked","summary":"stuck","errors":[{"type":"access","message":"no right to push"}]})";
  reply(ReplyStop::calls, "", {{"1", "ask_parent", "{}"}});
  apply_fact(QuestionAsked{{.id = "q", .kind = QuestionKind::to_parent}}, 0);
  apply_fact(QuestionAnswered{"q", {AnswerKind::nobody, ""}}, 0);
  apply_fact(CallFinished{{"1", ToolStatus::error, "nobody"}}, 0);
  completes(blocked);
  EXPECT_EQ(report().status, Status::blocked);
  EXPECT_EQ(report().reason, Reason::question_unanswered);
  EXPECT_EQ(report().errors.front().message, "no right to push") << "it names its blocker";
  apply_fact(RunStarted{});
  apply_fact(InputGiven{Source::parent, "go on"});
  completes(blocked);
  EXPECT_EQ(report().reason, Reason::reported) << "nobody was asked in this run";
}

// Both have the id of the call.
TEST_F(ARun, TellsThePermissionToAskFromTheQuestion) {
  const QuestionAsked permission{{.id = "q", .kind = QuestionKind::permission}};
  const QuestionAsked question{{.id = "q", .kind = QuestionKind::to_person}};
  reply(ReplyStop::calls, "", {{"1", "ask_user", "{}"}});
  apply_fact(permission, 0);
  apply_fact(QuestionAnswered{"q", {AnswerKind::approved, ""}}, 0);
  apply_fact(question, 0);
  apply_fact(question, 0);  // again after a restart
  apply_fact(QuestionAnswered{"q", {AnswerKind::text, "red"}}, 0);
  apply_fact(CallFinished{{"1", ToolStatus::ok, "red"}}, 0);
  reply(ReplyStop::calls, "", {{"2", "ask_user", "{}"}});
  apply_fact(permission, 0);
  apply_fact(QuestionAnswered{"q", {AnswerKind::nobody, ""}}, 0);
  apply_fact(CallFinished{{"2", ToolStatus::error, "no"}}, 0);
  completes(R"({"status":"blocked","summary":"stuck"})");
  EXPECT_EQ(report().questions, 1);
  EXPECT_EQ(report().reason, Reason::denied) << "nothing was asked that could have been answered";
}

TEST_F(ARun, ThatWasDeniedSaysWhatWouldHelp) {
  const auto advice_after = [this](Answer answer) {
    apply_fact(RunStarted{});
    apply_fact(InputGiven{Source::parent, "go on"});
    reply(ReplyStop::calls, "", {{"1", "Bash", R"({"command":"make"})"}});
    apply_fact(QuestionAnswered{"q", std::move(answer)}, 0);
    apply_fact(CallFinished{{"1", ToolStatus::error, "no"}}, 0);
    completes(R"({"status":"blocked","summary":"stuck"})");
    EXPECT_EQ(report().reason, Reason::denied);
    return report().errors.front().recommendation;
  };
  EXPECT_THAT(advice_after({AnswerKind::nobody, ""}),
              testing::AllOf(HasSubstr("--allow RULE"), HasSubstr("--yes for all")));
  EXPECT_THAT(advice_after({AnswerKind::refused, "not now", Source::person}),
              testing::AllOf(HasSubstr("declined"), testing::Not(HasSubstr("--"))));
  EXPECT_THAT(advice_after({AnswerKind::refused, "its rules", Source::runtime}),
              testing::AllOf(HasSubstr("on_ask: deny"), HasSubstr("--yes approves nothing")));
  const Report gone = report_of({}, session, {Status::failed, Reason::denied, "there is no agent 'x'"}, {});
  EXPECT_THAT(gone.errors.front().recommendation, testing::Not(HasSubstr("--"))) << "nothing was asked";
}

TEST_F(ARun, WhoseReplyWasPausedReportsAllOfIt) {
  reads("a", "1");
  reply(ReplyStop::paused, "the first half");
  reply(ReplyStop::paused, "");
  reply(ReplyStop::paused, "more");
  says("the second half");
  EXPECT_EQ(report().status, Status::completed);
  EXPECT_EQ(report().body, "the first half\n\nmore\n\nthe second half");
  apply_fact(RunStarted{});
  says("another answer");
  EXPECT_EQ(report().body, "another answer");
}

TEST_F(ARun, IsPausedByItsProviderAsOftenAsItMayBeAndNotOnceMore) {
  apply_fact(NoteTaken{"a finding"});
  for (int i = 1; i < kPausesToEnd; ++i) reply(ReplyStop::paused, "I search.");
  EXPECT_TRUE(asks());
  reads("a", "1");
  for (int i = 1; i < kPausesToEnd; ++i) reply(ReplyStop::paused, "I search.");
  EXPECT_TRUE(asks()) << "what was paused before does not count";
  reply(ReplyStop::paused, "I search.");
  EXPECT_EQ(report().status, Status::partial);
  EXPECT_EQ(report().reason, Reason::provider_error);
  EXPECT_THAT(report().body, testing::StartsWith("a finding\n\nI search.\n\nI search."));
  EXPECT_THAT(report().errors.front().message, HasSubstr("paused its answer 8 times in a row"));
}

// The end at a deadline, or at another limit, of a session on that path.
std::string recommended_to(std::vector<std::string> path,
                           const Finish& finish = {Status::partial, Reason::timeout, "its time was up"}) {
  Session session;
  session.id = SessionId("sess_1");
  session.agent = path.back();
  session.depth = static_cast<int>(path.size()) - 1;
  session.path = std::move(path);
  return report_of({}, session, finish, {}).errors.front().recommendation;
}

TEST(BudgetAdvice, NamesTheCommandThatGivesMoreOfWhatWasUsedUp) {
  const auto used_up = [](std::string flag) {
    return Finish{Status::partial, Reason::budget,
                  "budget exhausted: ask the person to raise " + std::move(flag) + "."};
  };
  EXPECT_THAT(recommended_to({"main"}, used_up("--max-cost")),
              HasSubstr("`deputy task main 'go on' --resume sess_1 --max-cost USD`"));
  EXPECT_THAT(recommended_to({"command", "explore"}, used_up("--max-steps")),
              HasSubstr("`deputy task explore 'go on' --resume sess_1 --max-steps N`"));
  EXPECT_THAT(recommended_to({"command", "explore"}, used_up("--max-tokens")), HasSubstr(" --max-tokens N`"));
  EXPECT_THAT(recommended_to({"command"}, used_up("--max-steps")), HasSubstr("--resume ID --max-steps N`"));
  EXPECT_THAT(recommended_to({"main"}, {Status::partial, Reason::budget, ""}),
              HasSubstr("`deputy task main 'go on' --resume sess_1`"));
  EXPECT_THAT(recommended_to({"main", "explore"}, used_up("--max-cost")),
              testing::AllOf(HasSubstr("ask the person"), testing::Not(HasSubstr("deputy "))));
}

TEST(AdviceAfterAStop, NamesTheCommandThatGoesOnToWhoStoppedWhatTheyStarted) {
  const Finish stopped{Status::cancelled, Reason::cancelled_by_user, ""};
  EXPECT_THAT(recommended_to({"main"}, stopped), HasSubstr("`deputy task main 'go on' --resume sess_1`"));
  EXPECT_THAT(recommended_to({"command", "reader"}, stopped),
              HasSubstr("`deputy task reader 'go on' --resume sess_1`"));
  EXPECT_THAT(recommended_to({"command"}, stopped), HasSubstr("`deputy sessions tree sess_1`"));
  EXPECT_THAT(recommended_to({"main", "explore"}, stopped),
              testing::AllOf(HasSubstr("is in the report"), testing::Not(HasSubstr("resume"))))
      << "no model is invited to go on with what the person has stopped";
}

TEST(TimeoutAdvice, NamesTheCommandToWhomAPersonStartedAndTheCallToAModel) {
  EXPECT_THAT(recommended_to({"main"}),
              HasSubstr("`deputy task main 'go on' --resume sess_1 --timeout TIME`"));
  EXPECT_THAT(recommended_to({"command", "explore"}),
              HasSubstr("`deputy task explore 'go on' --resume sess_1 --timeout TIME`"));
  EXPECT_THAT(recommended_to({"command"}), HasSubstr("`deputy sessions tree sess_1`"));
  for (const auto& path : {std::vector<std::string>{"main", "explore"}, {"command", "lead", "explore"}}) {
    EXPECT_THAT(recommended_to(path), testing::AllOf(HasSubstr("resume sess_1 with more time"),
                                                     testing::Not(HasSubstr("deputy "))));
  }
}

}  // namespace
}  // namespace deputy
