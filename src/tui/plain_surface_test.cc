#include "tui/plain_surface.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tui/chat_story.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Plain : public testing::Test {
 protected:
  Plain() { story.state.size.columns = 200; }
  std::string draw() { return surface.draw(std::exchange(story.state.out, {}), story.state); }
  Intents line(std::string_view text) {
    surface.feed(text);
    Intents all;
    while (const auto keys = surface.next(story.state)) {
      for (const auto& key : *keys) {
        for (auto& intent : apply_key(story.state, key)) all.push_back(std::move(intent));
      }
    }
    return all;
  }
  ChatStory story;
  PlainSurface surface{{.colour = false, .unicode = false}};
};

TEST_F(Plain, PromptsAndTakesALine) {
  EXPECT_EQ(draw(), "> ");
  EXPECT_EQ(draw(), "") << "once";
  EXPECT_TRUE(line("hel").empty());
  const auto intents = line("lo\n");
  ASSERT_EQ(intents.size(), 1u);
  EXPECT_EQ(std::get<SubmitInput>(intents[0]).text, "hello");
}

TEST_F(Plain, ToQuitIsFollowedByNoPrompt) {
  EXPECT_EQ(draw(), "> ");
  ASSERT_EQ(line("/quit\n").size(), 1u);
  surface.leave();
  EXPECT_EQ(draw(), "");
}

TEST_F(Plain, TheScreenThatOthersHaveWrittenOnIsPromptedAnew) {
  EXPECT_EQ(draw(), "> ");
  surface.start_over();
  EXPECT_EQ(draw(), "> ");
  story.begin("go");
  draw();
  surface.start_over();
  EXPECT_EQ(draw(), "") << "there is nothing to type for";
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), HasSubstr("answer: "));
  EXPECT_EQ(draw(), "") << "control: once";
  surface.start_over();
  EXPECT_THAT(draw(), ::testing::AllOf(HasSubstr("Run ls"), HasSubstr("answer: ")));
}

TEST_F(Plain, WritesLinesAndNoEscapes) {
  story.begin("go");
  story.reply("**Done** \x1b[2J.");
  EXPECT_EQ(draw(), "> go\n\nDone ^[[2J.\n");
}

TEST_F(Plain, AnAnswerByCommandIsToNothingThatWasAskedJustBeforeTheLineCame) {
  story.state.tells_children = true;
  story.begin("go");
  story.child("a");
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  story.pass(std::chrono::milliseconds(1999));
  EXPECT_TRUE(line("/answer a the red one\n").empty());
  EXPECT_THAT(draw(), HasSubstr("a has asked something while you typed; read it, and type /answer again"));
  story.pass(std::chrono::milliseconds(1));
  const auto answered = line("/answer a the red one\n");
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(std::get<GiveAnswer>(answered[0]).answer, (Answer{AnswerKind::text, "the red one"}));

  story.ask("a", "Delete all?", {}, QuestionKind::to_parent);
  EXPECT_TRUE(line("/answer a yes\n").empty()) << "what it asked before was not this";
}

// The terminal was stopped after the last thing that it took, and before the question.
TEST_F(Plain, AQuestionThatTheTerminalHasNotTakenIsAnsweredByNothing) {
  story.state.tells_children = true;
  story.begin("go");
  draw();
  story.ask("child", "Run ls", {"Bash(ls)"});
  EXPECT_EQ(draw(), "") << "it is too soon";
  was_taken(story.state);
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), HasSubstr("Run ls"));
  hold_back(story.state);
  EXPECT_TRUE(line("y\n").empty());
  story.pass(10 * kTooSoon);
  EXPECT_TRUE(line("y\n").empty()) << "nor later";

  was_taken(story.state);
  EXPECT_TRUE(line("y\n").empty()) << "nor as soon as it stands there";
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), HasSubstr("Run ls")) << "as lines came that were not taken for answers";
  was_taken(story.state);
  const auto approved = line("y\n");
  ASSERT_EQ(approved.size(), 1u);
  EXPECT_EQ(std::get<GiveAnswer>(approved[0]).answer.kind, AnswerKind::approved);
}

// The loop was busy with something else.
TEST_F(Plain, AQuestionThatWasNotWrittenYetIsAnsweredByNothing) {
  story.begin("go");
  draw();
  story.ask("child", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_TRUE(line("y\n").empty());
  EXPECT_TRUE(is_open(story.state.dialog));
  EXPECT_THAT(draw(), HasSubstr("Run ls"));
  EXPECT_EQ(line("y\n").size(), 1u);
}

TEST_F(Plain, AQuestionIsAnsweredByALine) {
  story.begin("go");
  story.ask("child", "Run ls", {"Bash(ls)"});
  draw();
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), HasSubstr("[child] asks for approval\n  Run ls\n"));
  EXPECT_TRUE(surface.has_asked());
  const auto refused = line("no, not here\n");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(std::get<GiveAnswer>(refused[0]).answer, (Answer{AnswerKind::refused, "not here"}));

  story.ask("child", "Which?", {"a", "b"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  draw();
  EXPECT_EQ(std::get<GiveAnswer>(line("2\n").at(0)).answer.text, "b");
  story.ask("child", "Which?", {"a"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  draw();
  EXPECT_EQ(std::get<GiveAnswer>(line("none of these\n").at(0)).answer.text, "none of these");
}

TEST_F(Plain, AQuestionIsToldWholeHoweverLongItIs) {
  story.state.tells_children = true;
  story.begin("go");
  story.ask("child", std::string(20'000, '\n') + "the end", {});
  story.pass(kTooSoon);
  const std::string asked = draw();
  EXPECT_GT(std::ranges::count(asked, '\n'), 20'000);
  EXPECT_THAT(asked, ::testing::Not(HasSubstr("more lines")));
}

TEST_F(Plain, AChildIsNudgedByACommand) {
  story.begin("go");
  story.child("child");
  const auto intents = line("/nudge child be brief\n");
  ASSERT_EQ(intents.size(), 1u);
  EXPECT_EQ(std::get<NudgeOne>(intents[0]).text, "be brief");
}

TEST_F(Plain, OnlyAChoiceByItselfApprovesAndOfAnythingElseItIsSaidWhatWasExpected) {
  story.begin("go");
  story.ask("child", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), HasSubstr("[child] asks for approval"));
  for (const auto* unclear :
       {"actually no\n", "always ask me\n", "sure\n", "yes but not that\n", "yep\n", "\n"}) {
    EXPECT_TRUE(line(unclear).empty()) << unclear;
    EXPECT_TRUE(is_open(story.state.dialog)) << unclear;
    EXPECT_EQ(draw(),
              "that was no answer: type y for yes, s for this session, a for always, or n for no (a reason "
              "may follow it)\nanswer: ")
        << unclear;
    EXPECT_EQ(draw(), "") << "once";
  }
  const auto approved = line("Yes\n");
  ASSERT_EQ(approved.size(), 1u);
  EXPECT_EQ(std::get<GiveAnswer>(approved[0]).answer.kind, AnswerKind::approved);
}

TEST_F(Plain, AnAnswerToWhatWasSettledJustThenIsNoInput) {
  story.state.tells_children = true;
  story.begin("go");
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  draw();
  story.tell_child("child", QuestionAnswered{"q1", {AnswerKind::approved, "", Source::person}});
  EXPECT_TRUE(line("y\n").empty());
  EXPECT_TRUE(story.state.queued.empty());
  EXPECT_THAT(draw(), ::testing::AllOf(HasSubstr("[child] was approved from elsewhere"),
                                       HasSubstr("settled meanwhile: y")));
  EXPECT_TRUE(line("and this\n").empty());
  EXPECT_THAT(story.state.queued, ElementsAre("and this"));
}

// The line that tells so is drawn at once; whoever types has not read it yet.
TEST_F(Plain, AnAnswerToWhatIsToldToBeSettledIsNoInputEitherForAWhile) {
  story.state.tells_children = true;
  story.begin("go");
  const auto settle_drawn = [this] {
    story.ask("child", "Run ls", {});
    story.pass(kTooSoon);
    draw();
    story.tell_child("child", QuestionAnswered{fmt::format("q{}", story.questions),
                                               {AnswerKind::approved, "", Source::person}});
    EXPECT_THAT(draw(), HasSubstr("was approved from elsewhere"));
  };
  settle_drawn();
  story.pass(std::chrono::milliseconds(1999));
  draw();
  EXPECT_TRUE(line("y\n").empty());
  EXPECT_TRUE(story.state.queued.empty());
  EXPECT_THAT(draw(), HasSubstr("settled meanwhile: y"));
  line("and this\n");
  EXPECT_THAT(story.state.queued, ElementsAre("and this")) << "one answer was typed";

  settle_drawn();
  story.pass(std::chrono::seconds(2));
  line("and that\n");
  EXPECT_THAT(story.state.queued, ElementsAre("and this", "and that"));
}

TEST_F(Plain, ALineAfterAnAnswerThatWasTakenIsAnInput) {
  story.state.tells_children = true;
  story.begin("go");
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  draw();
  EXPECT_EQ(line("y\n").size(), 1u);
  line("and this\n");
  EXPECT_THAT(story.state.queued, ElementsAre("and this"));
}

TEST_F(Plain, WhereThereIsNoRuleNoneIsOfferedOrTaken) {
  story.begin("go");
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  draw();
  EXPECT_TRUE(line("always\n").empty());
  EXPECT_EQ(draw(), "that was no answer: type y for yes, or n for no (a reason may follow it)\nanswer: ");
  EXPECT_EQ(line("y\n").size(), 1u);
}

TEST_F(Plain, AnEmptyLineIsNoAnswerToAQuestionEither) {
  story.begin("go");
  story.ask("child", "Which?", {"a", "b"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  draw();
  for (const auto* typed : {"\n", "w\n"}) {
    EXPECT_TRUE(line(typed).empty()) << typed;
    EXPECT_EQ(draw(), "that was no answer: type a number, or your own words\nanswer: ");
  }
}

TEST_F(Plain, ALineThatCameBeforeItsQuestionIsToldNotToBeTaken) {
  story.begin("go");
  draw();
  story.ask("child", "Run ls", {});
  EXPECT_TRUE(line("hello\n").empty());
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), HasSubstr("not taken, as it was typed before the question could be read: hello\n"
                                "[child] asks for approval"));
}

TEST_F(Plain, WhatHappensMeanwhileDoesNotStandBehindThePromptForAnAnswer) {
  story.state.tells_children = true;
  story.begin("go");
  story.child("b");
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  EXPECT_TRUE(draw().ends_with("answer: "));
  story.tell_child("b", CallStarted{"Read", "a.txt"});
  EXPECT_EQ(draw(), "\n[b] -> Read a.txt\nanswer: ");
}

// The terminal itself shows what is typed.
TEST_F(Plain, WhatWasTypedAtThePromptIsNotWrittenAgain) {
  story.state.tells_children = true;
  draw();
  ASSERT_EQ(line("hello\n").size(), 1u);
  story.begin("hello");
  EXPECT_EQ(draw(), "");
  story.reply("Hi.");
  EXPECT_THAT(draw(), HasSubstr("Hi."));
  EXPECT_TRUE(line("and this\n").empty()) << "it has its turn";
  story.tell_root(RunEnded{});
  (void)next_in_turn(story.state);
  story.begin("and this");
  EXPECT_THAT(draw(), HasSubstr("> and this")) << "which was typed long before";
}

TEST_F(Plain, ToQuitHasItsTurnBehindWhatWasTypedBefore) {
  story.state.tells_children = true;
  ASSERT_EQ(line("/quit\n").size(), 1u) << "where nothing runs, at once";
  story.begin("go");
  draw();
  EXPECT_TRUE(line("and this\n/quit\nnot this\n").empty());
  EXPECT_THAT(story.state.queued, ElementsAre("and this"));
  EXPECT_TRUE(story.state.leaves_at_end);
  EXPECT_THAT(draw(), HasSubstr("leaving once this is done"));
  story.ask("child", "Which?", {"a", "b"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  draw();
  EXPECT_EQ(line("2\n").size(), 1u) << "what runs may still ask";
}

TEST_F(Plain, WhileItIsBeingLeftChildrenAreStillSteeredAndTheRestIsToldNotToBeTaken) {
  story.state.tells_children = true;
  story.begin("go");
  story.child("a");
  EXPECT_TRUE(line("/quit\n").empty());
  draw();
  EXPECT_TRUE(line("not this\n").empty());
  EXPECT_THAT(draw(), HasSubstr("not taken, as the chat is left once this is done: not this"));
  EXPECT_TRUE(line("/compact\n").empty());
  EXPECT_THAT(draw(), HasSubstr("not taken, as the chat is left once this is done: /compact"));
  EXPECT_TRUE(story.state.queued.empty());
  const auto nudged = line("/nudge a be brief\n");
  ASSERT_EQ(nudged.size(), 1u);
  EXPECT_EQ(std::get<NudgeOne>(nudged[0]).text, "be brief");
  const auto cancelled = line("/cancel a\n");
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<CancelOne>(cancelled[0]));
}

TEST_F(Plain, CommandsThatChangeSomethingHaveTheirTurnToo) {
  story.state.tells_children = true;
  story.begin("go");
  draw();
  EXPECT_TRUE(line("/compact\n/model small\nmore\n/resume\n/export\n").empty());
  EXPECT_THAT(story.state.queued, ElementsAre("/compact", "/model small", "more", "/resume", "/export"));
  EXPECT_EQ(line("/cost\n").size(), 1u) << "which only shows something";
  EXPECT_EQ(line("/model\n").size(), 1u) << "so does this one";
  story.tell_root(RunEnded{});
  const auto next = [this] {
    auto intents = next_in_turn(story.state);
    EXPECT_EQ(intents.size(), 1u);
    return intents.empty() ? Intent{PauseProgram{}} : intents[0];
  };
  EXPECT_EQ(std::get<DoCommand>(next()).name, "/compact");
  EXPECT_TRUE(line("and this\n").empty()) << "others stand before it";
  EXPECT_EQ(std::get<DoCommand>(next()).arguments, "small");
  EXPECT_EQ(std::get<SubmitInput>(next()).text, "more");
  EXPECT_EQ(std::get<DoCommand>(next()).name, "/resume");
  EXPECT_EQ(std::get<DoCommand>(next()).name, "/export");
  EXPECT_EQ(std::get<SubmitInput>(next()).text, "and this");
  EXPECT_TRUE(next_in_turn(story.state).empty());
  story.state.leaves_at_end = true;
  EXPECT_TRUE(std::holds_alternative<LeaveChat>(next()));
}

TEST_F(Plain, TheEndOfTheInputLeavesWhatWaitsForAnAnswer) {
  story.state.tells_children = true;
  story.begin("go");
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  draw();
  const auto intents = apply_key(story.state, {KeyName::control, "d"});
  ASSERT_EQ(intents.size(), 1u);
  EXPECT_TRUE(std::get<LeaveChat>(intents[0]).at_once);
}

TEST_F(Plain, ALineThatHadNoEndIsHandedBackOnce) {
  EXPECT_TRUE(line("whole\nabc").size() == 1);
  EXPECT_EQ(surface.take_unended(), "abc");
  EXPECT_EQ(surface.take_unended(), "");
}

TEST_F(Plain, TheEndOfTheInputIsToQuitInTurn) {
  story.state.tells_children = true;
  const Key end{KeyName::control, "d"};
  const auto at_once = apply_key(story.state, end);
  ASSERT_EQ(at_once.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LeaveChat>(at_once[0]));
  story.begin("go");
  EXPECT_TRUE(apply_key(story.state, end).empty());
  EXPECT_TRUE(story.state.leaves_at_end);
}

// One that is asked and can be read.
class PlainAtAQuestion : public Plain {
 protected:
  PlainAtAQuestion() {
    story.state.tells_children = true;
    story.begin("go");
    story.child("a");
    draw();
  }
  void ask(QuestionKind kind) {
    story.ask("child", "Run ls", {}, kind);
    story.pass(kTooSoon);
    draw();
    was_taken(story.state);
  }
  void expect_asked_again() {
    EXPECT_TRUE(is_open(story.state.dialog));
    draw();
    was_taken(story.state);
    story.pass(kTooSoon);
    EXPECT_THAT(draw(), ::testing::AllOf(HasSubstr("Run ls"), HasSubstr("answer: ")));
    was_taken(story.state);
  }
};

TEST_F(PlainAtAQuestion, CommandsAreCarriedOutAndItIsAskedAgain) {
  ask(QuestionKind::permission);
  const auto nudged = line("/nudge a be brief\n");
  ASSERT_EQ(nudged.size(), 1u);
  EXPECT_EQ(std::get<NudgeOne>(nudged[0]).text, "be brief");
  expect_asked_again();
  const auto cancelled = line("/cancel a\n");
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<CancelOne>(cancelled[0]));
  expect_asked_again();
  for (const auto* command : {"/tree", "/help"}) {
    const auto shown = line(std::string(command) + "\n");
    ASSERT_EQ(shown.size(), 1u) << command;
    EXPECT_EQ(std::get<DoCommand>(shown[0]).name, command);
    expect_asked_again();
  }
  const auto sent = line("/background a\n");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<SendToBackground>(sent[0]));
  expect_asked_again();
  EXPECT_TRUE(line("/compact\n").empty());
  EXPECT_THAT(story.state.queued, ElementsAre("/compact")) << "it has its turn";
  EXPECT_THAT(draw(), HasSubstr("/compact has its turn once this is done"));
  was_taken(story.state);
  expect_asked_again();
  const auto approved = line("y\n");
  ASSERT_EQ(approved.size(), 1u);
  EXPECT_EQ(std::get<GiveAnswer>(approved[0]).answer.kind, AnswerKind::approved);
}

TEST_F(PlainAtAQuestion, ALineBehindACommandIsNoAnswerBeforeItIsAskedAgain) {
  ask(QuestionKind::permission);
  ASSERT_EQ(line("/tree\ny\n").size(), 1u);
  EXPECT_TRUE(is_open(story.state.dialog));
  EXPECT_THAT(draw(), HasSubstr("not taken, as it was typed before the question could be read: y"));
}

TEST_F(PlainAtAQuestion, ToQuitLeavesAtOnceAsTheEndOfTheInputDoes) {
  ask(QuestionKind::permission);
  for (const auto* typed : {"/quit\n", "/exit now\n"}) {
    const auto left = line(typed);
    ASSERT_EQ(left.size(), 1u) << typed;
    EXPECT_TRUE(std::get<LeaveChat>(left[0]).at_once);
  }
}

TEST_F(PlainAtAQuestion, ToQuitThatWasTypedBeforeItHasItsTurn) {
  story.ask("child", "Run ls", {});
  EXPECT_TRUE(line("/quit\n").empty());
  EXPECT_TRUE(story.state.leaves_at_end);
  expect_asked_again();
}

TEST_F(PlainAtAQuestion, AWordWithASlashIsAnAnswerOnlyWithTwo) {
  const auto answer_to = [this](const std::string& typed) {
    ask(QuestionKind::to_person);
    const auto intents = line(typed + "\n");
    const auto* given = intents.size() == 1 ? std::get_if<GiveAnswer>(&intents[0]) : nullptr;
    return given ? given->answer.text : "no answer";
  };
  EXPECT_EQ(answer_to("/usr/bin or /bin"), "/usr/bin or /bin");
  EXPECT_EQ(answer_to("//treetop"), "/treetop");
  EXPECT_EQ(answer_to("//tree shows it"), "/tree shows it");
  EXPECT_EQ(answer_to("// is a comment"), "// is a comment");
  EXPECT_EQ(answer_to("/tree"), "no answer");
}

TEST_F(PlainAtAQuestion, ACommandThatThereIsNotIsToldToBeNoneAndHowItIsAnAnswer) {
  ask(QuestionKind::to_person);
  EXPECT_TRUE(line("/tre -v\n").empty());
  EXPECT_TRUE(is_open(story.state.dialog));
  EXPECT_EQ(draw(),
            "there is no /tre (did you mean /tree?); an answer that begins with a slash is typed with two: "
            "//tre\nanswer: ");
  EXPECT_TRUE(line("/etc/\n").size() == 1) << "control: a path is none";
  ask(QuestionKind::to_person);
  EXPECT_TRUE(line("/somewhere\n").empty());
  EXPECT_THAT(draw(), ::testing::StartsWith("there is no /somewhere; an answer"));
  const auto answered = line("//tre -v\n");
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(std::get<GiveAnswer>(answered[0]).answer.text, "/tre -v");
}

TEST_F(PlainAtAQuestion, AWordWithASlashThatIsNoCommandApprovesNothing) {
  ask(QuestionKind::permission);
  for (const auto* typed : {"/yes\n", "//yes\n"}) EXPECT_TRUE(line(typed).empty()) << typed;
  EXPECT_TRUE(line("/yes\n").empty());
  EXPECT_THAT(draw(), HasSubstr("there is no /yes; type y for yes, or n for no"));
}

TEST_F(PlainAtAQuestion, AnInterruptAsksForNoAnswerAnyMore) {
  ask(QuestionKind::permission);
  surface.interrupt(story.state);
  ASSERT_EQ(apply_key(story.state, {KeyName::control, "c"}).size(), 1u);
  EXPECT_THAT(draw(), ::testing::AllOf(::testing::StartsWith("\ncancelling"), ::testing::EndsWith(")\n")));
  story.pass(kTooSoon);
  EXPECT_EQ(draw(), "") << "nor a moment later";
  story.tell_child("child", RunEnded{});
  story.tell_root(RunEnded{});
  EXPECT_THAT(draw(), ::testing::EndsWith("> ")) << "control: what comes next can be typed";
  story.begin("more");
  story.ask("child", "Run rm", {});
  story.pass(kTooSoon);
  EXPECT_THAT(draw(), ::testing::AllOf(HasSubstr("Run rm"), ::testing::EndsWith("answer: ")));
}

TEST_F(PlainAtAQuestion, WhatIsBeingLeftAsksForNothing) {
  ask(QuestionKind::permission);
  surface.leave();
  EXPECT_EQ(draw(), "");
  story.tell_child("a", CallStarted{"Read", "a.txt"});
  EXPECT_EQ(draw(), "\n[a] -> Read a.txt\n") << "on a line of its own";
  story.tell_root(RunEnded{});
  EXPECT_THAT(draw(), ::testing::Not(HasSubstr(">")));
}

TEST_F(PlainAtAQuestion, ACommandIsNoAnswerToWhatWasSettledJustThen) {
  ask(QuestionKind::permission);
  story.tell_child("child", QuestionAnswered{"q1", {AnswerKind::approved, "", Source::person}});
  ASSERT_EQ(line("/tree\n").size(), 1u);
  EXPECT_TRUE(line("y\n").empty());
  EXPECT_THAT(draw(), HasSubstr("settled meanwhile: y"));
}

TEST_F(PlainAtAQuestion, ItsLinesAreBrokenAtSpaces) {
  story.state.size.columns = 40;
  story.ask("child", "Spawn 1 subagent to look for all that is unfinished in this folder", {});
  story.pass(kTooSoon);
  const std::string asked = draw();
  EXPECT_THAT(asked, HasSubstr("  Spawn 1 subagent to look for all that\n\\ is unfinished in this folder\n"));
  line("perhaps\n");
  EXPECT_THAT(draw(), HasSubstr("that was no answer: type y for yes, or\nn for no"));
}

// The terminal has written ^C behind what was typed, and dropped that.
TEST_F(Plain, AnInterruptIsToldAndPromptsOnALineOfItsOwn) {
  story.state.tells_children = true;
  draw();
  surface.feed("abc");
  const auto interrupt = [this] {
    surface.interrupt(story.state);
    return apply_key(story.state, {KeyName::control, "c"});
  };
  EXPECT_TRUE(interrupt().empty());
  EXPECT_EQ(draw(), "\nCtrl-C twice within 2 s leaves; so does /quit\n> ");
  EXPECT_EQ(draw(), "") << "once";
  const auto said = line("def\n");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(std::get<SubmitInput>(said[0]).text, "def");

  story.begin("def");
  draw();
  story.pass(std::chrono::seconds(3));
  EXPECT_EQ(interrupt().size(), 1u);
  EXPECT_THAT(draw(), ::testing::StartsWith("\ncancelling; what was found is kept"));
}

TEST_F(Plain, WhatWasTypedBeforeAQuestionDoesNotAnswerIt) {
  story.begin("go");
  surface.feed("y");
  story.ask("child", "Run ls", {});
  story.pass(kTooSoon);
  draw();
  EXPECT_TRUE(line("\n").empty());
  EXPECT_TRUE(is_open(story.state.dialog));
}

}  // namespace
}  // namespace deputy
