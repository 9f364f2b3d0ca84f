#include "app/progress_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Plays the events of a tree into a view.
class ProgressViewTest : public ::testing::Test {
 protected:
  std::optional<std::string> tell(const std::string& session, Fact fact, const EventOrigin& origin,
                                  ProgressView::Detail detail = ProgressView::Detail::usual) {
    Event event;
    event.run.session = SessionId(session);
    event.fact = std::move(fact);
    view_.apply(event, origin);
    return view_.line_for(event, detail);
  }
  std::optional<std::string> tell_child(const std::string& label, Fact fact, const std::string& id = "") {
    return tell(id.empty() ? label : id, std::move(fact), {SessionId("root"), label, "reader"});
  }
  std::vector<std::string> frame() const {
    std::vector<std::string> rows;
    for (const Line& line : view_.frame({})) rows.push_back(plain_text(line));
    return rows;
  }
  void start_command() { tell("root", RunStarted{}, kCommand); }

  static ReplyReceived reply(std::int64_t input, std::int64_t output) {
    ReplyReceived fact;
    fact.reply.usage = {.input = input, .output = output};
    return fact;
  }
  static RunEnded ended(Status status, Reason reason = Reason::none, const std::string& message = "") {
    RunEnded fact;
    fact.report->status = status;
    fact.report->reason = reason;
    if (!message.empty()) fact.report->errors.push_back({.message = message});
    return fact;
  }

  const EventOrigin kCommand{{}, "delegate", "command"};
  ProgressView view_{Style{}};
};

TEST_F(ProgressViewTest, AFrameIsTheTreeOfS0) {
  start_command();
  for (const auto* label : {"security", "correctness", "refactor"}) tell_child(label, RunStarted{0, 3});
  tell_child("security", reply(45'000, 2'100));
  tell_child("security", ended(Status::completed));
  tell_child("correctness", reply(23'000, 890));
  tell_child("correctness", CallStarted{"Read", "src/lib.rs"});
  tell_child("refactor", ended(Status::partial, Reason::context_exhausted));
  EXPECT_THAT(frame(), ElementsAre("Delegate [3 subagents]",                               //
                                   "  [security]     ✓ complete (in=45k out=2.1k)",        //
                                   "  [correctness]  → Read src/lib.rs (in=23k out=890)",  //
                                   "  [refactor]     ⚠ partial: context exhausted (in=0 out=0)"));
}

TEST_F(ProgressViewTest, EachEventIsAPlainLine) {
  start_command();
  EXPECT_EQ(tell_child("a", RunStarted{0, 1}), "[a] started");
  EXPECT_EQ(tell_child("a", reply(1200, 10)), std::nullopt);
  EXPECT_EQ(tell_child("a", CallStarted{"Read", "src/x"}), "[a] Read src/x");
  EXPECT_EQ(tell_child("a", CallFinished{}), std::nullopt);
  EXPECT_EQ(tell_child("a", NoteTaken{"two\nlines"}), "[a] note: two lines");
  EXPECT_EQ(tell_child("a", ended(Status::completed)), "[a] ✓ complete (in=1.2k out=10)");
}

TEST_F(ProgressViewTest, ACallThatWasRefusedIsALine) {
  start_command();
  ReplyReceived asks = reply(1, 1);
  asks.reply.message.calls = {{"c1", "Read", "{}"}, {"c2", "Write", "{}"}};
  tell_child("a", asks);
  const auto finished = [&](int call, ToolStatus status, std::string content) {
    Event event;
    event.run.session = SessionId("a");
    event.call = call;
    event.fact = CallFinished{{.status = status, .content = std::move(content)}};
    view_.apply(event, {SessionId("root"), "a", "reader"});
    return view_.line_for(event, ProgressView::Detail::usual);
  };
  EXPECT_EQ(finished(1, ToolStatus::error, "Not permitted: denied by rule Edit.\nx"),
            "[a] Write refused: Not permitted: denied by rule Edit. x");
  Event begun;
  begun.run.session = SessionId("a");
  begun.call = 0;
  begun.fact = CallStarted{"Read", "x"};
  view_.apply(begun, {SessionId("root"), "a", "reader"});
  EXPECT_EQ(finished(0, ToolStatus::error, "no such file"), std::nullopt) << "it ran, and failed";
  EXPECT_EQ(finished(7, ToolStatus::error, "x"), std::nullopt);
}

TEST_F(ProgressViewTest, ACompactionIsALineAndItsTokensCount) {
  start_command();
  Compacted compacted{reply(1200, 10).reply, 7};
  compacted.reply.message.text = "in short";
  EXPECT_EQ(tell_child("a", compacted), "[a] compacted: a summary stands for 7 messages");
  EXPECT_EQ(tell_child("a", ended(Status::completed)), "[a] ✓ complete (in=1.2k out=10)");
  compacted.reply.message.text = "";
  EXPECT_EQ(tell_child("b", compacted), "[b] not compacted: the model said nothing");
}

TEST_F(ProgressViewTest, ACompactionIsAnnouncedAndReplacedByWhatCameOfIt) {
  start_command();
  tell_child("a", RunStarted{0, 1});
  EXPECT_EQ(view_.apply_summary_asked(SessionId("a"), 45'000),
            "[a] compacting: the model sums up about 45k tokens");
  EXPECT_THAT(frame()[1], HasSubstr("compacting: the model sums up about 45k tokens"));
  Compacted compacted{reply(1, 1).reply, 7};
  compacted.reply.message.text = "in short";
  tell_child("a", compacted);
  EXPECT_THAT(frame()[1], HasSubstr("compacted: a summary"));
  EXPECT_EQ(view_.apply_summary_asked(SessionId("nobody"), 1), std::nullopt);
}

TEST_F(ProgressViewTest, AFailureSaysWhy) {
  start_command();
  EXPECT_EQ(tell_child("a", ended(Status::failed, Reason::provider_error, "the server is on fire")),
            "[a] ✗ error: the server is on fire");
  EXPECT_EQ(tell_child("b", ended(Status::cancelled, Reason::cancelled_by_user)),
            "[b] ✗ cancelled (in=0 out=0)");
  EXPECT_EQ(
      tell_child("d", ended(Status::cancelled, Reason::cancelled_by_user, std::string(kEndedBySigterm))),
      "[d] ✗ cancelled: ended by SIGTERM (in=0 out=0)");
  RunEnded stopped = ended(Status::cancelled);
  stopped.report->usage = {.input = 1165, .output = 4096};
  EXPECT_EQ(tell_child("c", stopped), "[c] ✗ cancelled (in=1.1k out=4k)") << "as its report says";
}

TEST_F(ProgressViewTest, WithDetailStepsAndResultsAreTold) {
  CallFinished finished;
  finished.result.content = std::string(1500, 'x');
  const EventOrigin origin{{}, "main", "main"};
  EXPECT_EQ(tell("root", reply(10, 20), origin, ProgressView::Detail::all),
            "[main] replied: finished (in=10 out=20)");
  EXPECT_EQ(tell("root", finished, origin, ProgressView::Detail::all), "[main] result: ok, 1,500 bytes");
}

TEST_F(ProgressViewTest, TheCommandItselfHasNoLines) {
  EXPECT_EQ(tell("root", RunStarted{}, kCommand), std::nullopt);
  EXPECT_EQ(tell("root", CallStarted{"Delegate", "3 subagents"}, kCommand), std::nullopt);
  EXPECT_EQ(tell("root", ended(Status::completed), kCommand), std::nullopt);
}

TEST_F(ProgressViewTest, ARootThatIsAnAgentHasALineAboveItsChildren) {
  tell("root", RunStarted{}, {{}, "main", "main"});
  tell("root", CallStarted{"Delegate", "1 subagent: [a] x"}, {{}, "main", "main"});
  tell_child("a", RunStarted{0, 1});
  EXPECT_THAT(frame(), ElementsAre("[main]  → Delegate 1 subagent: [a] x (in=0 out=0)",  //
                                   "  [a]     → started (in=0 out=0)"));
}

TEST_F(ProgressViewTest, ARootWhoseCallHasEndedIsSaidToThink) {
  const EventOrigin main{{}, "main", "main"};
  tell("root", RunStarted{}, main);
  tell("root", CallStarted{"Delegate", "1 subagent"}, main);
  tell_child("a", RunStarted{0, 1});
  tell_child("a", CallStarted{"Read", "x"});
  tell_child("a", CallFinished{});
  EXPECT_THAT(frame()[0], HasSubstr("→ Delegate 1 subagent")) << "control";
  tell("root", CallFinished{}, main);
  EXPECT_THAT(frame()[0], HasSubstr("→ thinking (in=0 out=0)"));
  EXPECT_THAT(frame()[1], HasSubstr("→ Read x")) << "of a child its last activity is told";
}

TEST_F(ProgressViewTest, AChildThatItsParentGoesOnWithoutIsMarkedUntilItHasEnded) {
  const EventOrigin main{{}, "main", "main"};
  tell("root", RunStarted{}, main);
  tell_child("a", RunStarted{0, 1});
  tell_child("a", CallStarted{"Read", "x"});
  EXPECT_THAT(frame()[1], HasSubstr("→ Read x")) << "control";
  tell("root", Detached{SessionId("a")}, main);
  EXPECT_THAT(frame()[1], HasSubstr("→ background: Read x"));
  tell_child("a", ended(Status::completed));
  EXPECT_THAT(frame()[1], ::testing::Not(HasSubstr("background")));
}

TEST_F(ProgressViewTest, TwinsCanBeToldApart) {
  start_command();
  EXPECT_EQ(tell_child("a", RunStarted{0, 2}, "first"), "[a] started");
  EXPECT_EQ(tell_child("a", RunStarted{1, 2}, "second"), "[a (2)] started");
  EXPECT_EQ(tell_child("a", CallStarted{"List", "."}, "first"), "[a] List .");
}

TEST_F(ProgressViewTest, NothingFromAnAgentReachesTheTerminalUnseen) {
  start_command();
  const auto line = tell_child("x\x1b[2J", NoteTaken{"a\x1b]0;title\x07 b\u202e c"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->find('\x1b'), std::string::npos);
  EXPECT_EQ(line->find('\x07'), std::string::npos);
  EXPECT_EQ(line->find("\u202e"), std::string::npos);
  for (const auto& row : frame()) EXPECT_EQ(row.find('\x1b'), std::string::npos);
}

TEST_F(ProgressViewTest, AFrameFitsTheScreen) {
  start_command();
  for (int i = 0; i < 30; ++i) tell_child(fmt::format("c{}", i), CallStarted{"Read", std::string(200, 'x')});
  const auto lines = view_.frame({.columns = 40, .rows = 10});
  EXPECT_EQ(lines.size(), 9U) << "a row is left for the cursor";
  EXPECT_THAT(plain_text(lines.front()), HasSubstr("more above"));
  EXPECT_THAT(plain_text(lines.back()), HasSubstr("[c29]"));
  for (const Line& line : lines) EXPECT_LE(width_of(line), 39U) << plain_text(line);
  EXPECT_EQ(view_.frame({.columns = 40, .rows = 2}).size(), 1U);
}

TEST_F(ProgressViewTest, AQuestionIsMarkedUntilItIsAnswered) {
  start_command();
  QuestionAsked asked;
  asked.question.text = "Read src/x";
  EXPECT_EQ(tell_child("a", asked), "[a] asks: Read src/x");
  EXPECT_THAT(frame().back(), HasSubstr("? asks: Read src/x"));
  EXPECT_EQ(tell_child("a", QuestionAnswered{"q", {AnswerKind::refused, "not now"}}),
            "[a] declined: not now");
  EXPECT_EQ(tell_child("a", QuestionAnswered{"q", {AnswerKind::nobody, ""}}),
            "[a] not approved: nobody is there to ask (--yes approves beforehand)");
  EXPECT_EQ(tell_child("a", QuestionAnswered{"q", {AnswerKind::nobody, "the person stopped it"}}),
            "[a] not approved: the person stopped it");
}

TEST_F(ProgressViewTest, OfAQuestionThatHoldsAFileTheLineTellsTheBeginning) {
  start_command();
  const auto told_of = [this](std::size_t characters) {
    return *tell_child("a", QuestionAsked{{.id = "q", .text = std::string(characters, 'x')}});
  };
  EXPECT_EQ(told_of(4096), "[a] asks: " + std::string(4096, 'x'));
  EXPECT_THAT(told_of(4097), ::testing::EndsWith("…"));
}

TEST_F(ProgressViewTest, AQuestionThatIsNoPermissionIsNotSaidToBeUnapproved) {
  start_command();
  for (const QuestionKind kind : {QuestionKind::to_person, QuestionKind::to_parent}) {
    tell_child("a", QuestionAsked{{.id = "q", .kind = kind, .text = "which one?"}});
    const auto told = tell_child("a", QuestionAnswered{"q", {AnswerKind::nobody, ""}});
    ASSERT_TRUE(told);
    EXPECT_THAT(*told, ::testing::AllOf(HasSubstr("not answered: "), HasSubstr("its own judgement"),
                                        ::testing::Not(HasSubstr("approve"))));
  }
}

TEST(ProgressViewStyle, WithoutUnicodeAllMarksAreAscii) {
  ProgressView view(Style{.colour = false, .unicode = false});
  Event event;
  event.run.session = SessionId("a");
  event.fact = CallStarted{"Read", std::string(300, 'x')};
  view.apply(event, {{}, "a", "reader"});
  for (const auto& line : view.frame({})) {
    const std::string shown = to_terminal(line, {.colour = false, .unicode = false});
    for (const char c : shown) EXPECT_GE(c, ' ');
    EXPECT_THAT(shown, HasSubstr("..."));
  }
}

TEST(ProgressViewStyle, ColourTellsHowItEnded) {
  ProgressView view(Style{.colour = true});
  Event event;
  event.run.session = SessionId("a");
  event.fact = RunEnded{};
  view.apply(event, {{}, "a", "reader"});
  EXPECT_EQ(view.frame({}).front().back().tone, Tone::good);
}

}  // namespace
}  // namespace deputy
