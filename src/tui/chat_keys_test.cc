// What keys and commands do beside the lines of the chat: stop, complete, and steer the children.
#include <gmock/gmock.h>

#include <set>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using ChatKeys = ChatPlay;

TEST_F(ChatKeys, CtrlCCancelsWhatRunsAndASecondOneSoonLeaves) {
  story.begin("go");
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  story.pass(std::chrono::milliseconds(1999));
  const auto intents = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(intents));
  EXPECT_TRUE(only<LeaveChat>(intents)->at_once);
}

TEST_F(ChatKeys, CtrlCTwiceLeavesAtOnceWhetherOrNotSomethingRuns) {
  story.begin("go");
  key(KeyName::control, "c");
  story.tell_root(RunEnded{Report{}});
  const auto intents = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(intents));
  EXPECT_TRUE(only<LeaveChat>(intents)->at_once);
  story.pass(std::chrono::seconds(3));
  key(KeyName::control, "c");
  const auto idle = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(idle));
  EXPECT_TRUE(only<LeaveChat>(idle)->at_once);
}

TEST_F(ChatKeys, CtrlCAfterAWhileCancelsAgain) {
  story.begin("go");
  key(KeyName::control, "c");
  story.pass(std::chrono::milliseconds(2001));
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
}

TEST_F(ChatKeys, CtrlCOnAnIdleChatEmptiesTheLineThenLeaves) {
  type("half");
  EXPECT_THAT(key(KeyName::control, "c"), IsEmpty());
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_THAT(key(KeyName::control, "c"), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("Ctrl-C twice within 2 s leaves")) << "true however long it stands";
  EXPECT_TRUE(only<LeaveChat>(key(KeyName::control, "c")));
}

TEST_F(ChatKeys, CtrlCCancelsWhatRunsWhateverStandsInTheLineWhichStays) {
  story.begin("go");
  type("half");
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  EXPECT_EQ(story.state.input.text, "half");
  const auto intents = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(intents));
  EXPECT_TRUE(only<LeaveChat>(intents)->at_once);
}

TEST_F(ChatKeys, TheSecondCtrlCLeavesAlsoWhereAllHasEndedAndTheLineIsNotEmpty) {
  story.begin("go");
  type("half");
  key(KeyName::control, "c");
  story.tell_root(RunEnded{Report{}});
  story.pass(std::chrono::milliseconds(2000));
  EXPECT_TRUE(only<LeaveChat>(key(KeyName::control, "c")));
}

TEST_F(ChatKeys, ALaterCtrlCEmptiesTheLineThatStayed) {
  story.begin("go");
  type("half");
  key(KeyName::control, "c");
  story.tell_root(RunEnded{Report{}});
  story.pass(std::chrono::milliseconds(2001));
  EXPECT_THAT(key(KeyName::control, "c"), IsEmpty());
  EXPECT_EQ(story.state.input.text, "");
}

TEST_F(ChatKeys, CtrlCWorksWhileAQuestionIsOpen) {
  story.begin("go");
  type("half");  // a line that the question hides
  story.ask("a", "Run", {});
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
}

// As where the program was stopped, and a shell had the keys.
TEST_F(ChatKeys, AfterOthersHadTheScreenNoKeyAnswersUntilTheQuestionIsShownAgain) {
  story.begin("go");
  story.ask("a", "Run", {});
  was_taken(story.state);
  story.pass(kTooSoon);
  ASSERT_TRUE(is_ready(story.state.dialog, story.state.now)) << "control";
  hide(story.state.dialog);
  EXPECT_THAT(key(KeyName::text, "y"), IsEmpty());
  story.pass(std::chrono::seconds(10));
  EXPECT_THAT(key(KeyName::text, "y"), IsEmpty()) << "however long it lasts";
  was_taken(story.state);
  EXPECT_THAT(key(KeyName::text, "y"), IsEmpty()) << "typed ahead";
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(key(KeyName::text, "y")));
}

// A question of ask_user that is stopped has no answer on record.
TEST_F(ChatKeys, AQuestionWhoseAskerHasEndedIsClosed) {
  story.begin("go");
  story.ask("a", "Which?", {}, QuestionKind::to_person);
  story.ask("b", "Run", {});
  story.pass(kTooSoon);
  key(KeyName::control, "c");
  story.tell_child("a", RunEnded{Report{}});
  ASSERT_TRUE(is_open(story.state.dialog));
  EXPECT_EQ(story.state.dialog.waiting.front().label, "b") << "who still asks";
  story.tell_child("b", RunEnded{Report{}});
  EXPECT_FALSE(is_open(story.state.dialog));
}

// Somebody types a reason, and the asker ends: the rest of it cancels nobody, nudges nobody and is no input.
TEST_F(ChatKeys, WhatIsTypedForAQuestionThatOthersCloseIsForNobodyElse) {
  story.begin("go");
  story.child("other");
  key(KeyName::tab);
  ASSERT_EQ(story.state.chosen, SessionId("sess_other"));
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  type("nnot ");
  story.take_out();
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_FALSE(is_open(story.state.dialog));
  EXPECT_THAT(story.take_out(), HasSubstr("not given, as what was asked was settled meanwhile: not"));
  story.pass(kTooSoon - std::chrono::milliseconds(1));
  EXPECT_THAT(type("c"), IsEmpty()) << "it cancels nobody";
  EXPECT_THAT(story.state.notice.text, HasSubstr("settled meanwhile"));
  story.pass(kTooSoon - std::chrono::milliseconds(1));
  type("n");
  EXPECT_EQ(story.state.typing, Typing::input) << "who types on has not seen it";
  story.pass(kTooSoon);
  EXPECT_TRUE(only<CancelOne>(type("c")));
}

TEST_F(ChatKeys, AReasonThatIsTypedOnBehindItsQuestionIsNoInput) {
  story.begin("go");
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  type("nno");
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::approved, "", Source::person}});
  type("t here");
  key(KeyName::enter);
  EXPECT_TRUE(story.state.queued.empty());
  EXPECT_EQ(story.state.input.text, "");
  story.pass(kTooSoon);
  type("go on");
  key(KeyName::enter);
  EXPECT_THAT(story.state.queued, ElementsAre("go on"));
}

// Nobody has begun to answer it, or it is the person who closes it.
TEST_F(ChatKeys, AQuestionThatClosesBeforeItCouldBeReadOrByCtrlCHoldsNoKeysBack) {
  story.begin("go");
  story.ask("a", "Run ls", {});
  story.answer_last();
  type("x");
  EXPECT_EQ(story.state.input.text, "x");
  key(KeyName::backspace);
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  key(KeyName::control, "c");
  story.tell_child("a", RunEnded{Report{}});
  type("x");
  EXPECT_EQ(story.state.input.text, "x");
}

TEST_F(ChatKeys, WhatWasTypedAheadIsToldNotToBeBegunWhereAllIsCancelled) {
  story.begin("go");
  type("and then this");
  key(KeyName::enter);
  story.take_out();
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  EXPECT_TRUE(story.state.queued.empty());
  EXPECT_THAT(story.take_out(), HasSubstr("not begun, as all is cancelled: and then this"));
}

TEST_F(ChatKeys, AnApprovalForTheSessionIsForAllWhoAskTheSameAlready) {
  story.begin("go");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.ask("b", "Run rm", {"Bash(rm)"});
  story.ask("c", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_THAT(type("s"), IsEmpty()) << "one letter is not enough for that";
  const auto intents = key(KeyName::enter);
  ASSERT_EQ(intents.size(), 2u);
  for (const auto& intent : intents) {
    const auto* given = std::get_if<GiveAnswer>(&intent);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->answer.kind, AnswerKind::approved);
    EXPECT_NE(given->question_id, "q2");
  }
  ASSERT_EQ(story.state.dialog.waiting.size(), 1u);
  EXPECT_EQ(story.state.dialog.waiting.front().label, "b");
}

TEST_F(ChatKeys, CompletesCommandsAndPaths) {
  type("/mo");
  EXPECT_THAT(story.state.completion.choices, ElementsAre("/model"));
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "/model ");
  key(KeyName::control, "u");
  const auto intents = type("see @src/m");
  ASSERT_TRUE(only<ListFolder>(intents));
  EXPECT_EQ(only<ListFolder>(intents)->folder, "src/");
  apply_listing(story.state, "src/", {"main.cc", "model/", ".hidden", "x"});
  EXPECT_THAT(story.state.completion.choices, ElementsAre("@src/main.cc", "@src/model/"));
  key(KeyName::down);
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @src/model/");
}

TEST_F(ChatKeys, AFolderThatIsTakenIsLookedInto) {
  type("see @sr");
  apply_listing(story.state, "", {"src/"});
  const auto taken = key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @src/");
  ASSERT_TRUE(only<ListFolder>(taken));
  EXPECT_EQ(only<ListFolder>(taken)->folder, "src/");
  apply_listing(story.state, "src/", {"main.cc", "map.cc"});
  EXPECT_THAT(story.screen(80), HasSubstr("@src/map.cc"));
  EXPECT_THAT(key(KeyName::tab), IsEmpty()) << "a file holds nothing";
  EXPECT_EQ(story.state.input.text, "see @src/main.cc ");
}

TEST_F(ChatKeys, CompletionsThatHaveNoRoomAreCounted) {
  type("@f");
  std::vector<std::string> entries;
  for (int at = 1; at <= 8; ++at) entries.push_back(fmt::format("file{}", at));
  apply_listing(story.state, "", entries);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("@file8\n"), Not(HasSubstr("more"))));
  entries.emplace_back("file9");
  apply_listing(story.state, "", entries);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("@file7\n  (2 more)\n"), Not(HasSubstr("@file8"))));
  for (int down = 0; down < 8; ++down) key(KeyName::down);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("❯ @file9\n  (2 more)\n"), Not(HasSubstr("@file2"))));
}

TEST_F(ChatKeys, ACommandForAChildThatNamesNoneSaysWhatIsMissing) {
  story.begin("go");
  story.child("a");
  for (const std::string_view command : {"/cancel", "/nudge", "/answer", "/background"}) {
    story.take_out();
    type(command);
    EXPECT_THAT(key(KeyName::enter), IsEmpty());
    EXPECT_THAT(story.take_out(), AllOf(HasSubstr(fmt::format("{} needs the name of a child", command)),
                                        HasSubstr("/tree"), Not(HasSubstr("no child"))));
  }
}

TEST_F(ChatKeys, APathWithSpacesIsCompletedInQuotes) {
  type("see @my");
  apply_listing(story.state, "", {"my notes/", "my file.txt", "myth", "mine", "my \"quoted\" one"});
  EXPECT_THAT(story.state.completion.choices, ElementsAre("@\"my notes/", "@\"my file.txt\"", "@myth"));
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @\"my notes/");
  const auto intents = type("to d");
  ASSERT_TRUE(only<ListFolder>(intents));
  EXPECT_EQ(only<ListFolder>(intents)->folder, "my notes/");
  apply_listing(story.state, "my notes/", {"to do.md", "today"});
  EXPECT_THAT(story.state.completion.choices, ElementsAre("@\"my notes/to do.md\""));
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @\"my notes/to do.md\" ");
  EXPECT_THAT(type("and say \"hello"), IsEmpty()) << "these quotes are no path's";
}

TEST_F(ChatKeys, OfAHundredThousandFilesSomeAreOffered) {
  std::vector<std::string> entries;
  for (int at = 0; at < 100'000; ++at) entries.push_back(fmt::format("file{}.txt", at));
  type("@file99");
  apply_listing(story.state, "", entries);
  EXPECT_THAT(story.state.completion.choices, testing::SizeIs(200));
  EXPECT_EQ(story.state.completion.choices.front(), "@file99.txt");
}

TEST_F(ChatKeys, APathIsNoCommand) {
  type("/etc/hosts has what?");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<SubmitInput>(intents));
  EXPECT_EQ(only<SubmitInput>(intents)->text, "/etc/hosts has what?");
}

TEST_F(ChatKeys, ACommandIsNoInput) {
  type("/cost");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<DoCommand>(intents));
  EXPECT_EQ(only<DoCommand>(intents)->name, "/cost");
  set_text(story.state.input, "/model  rehearsal ");
  const auto model = key(KeyName::enter);
  ASSERT_TRUE(only<DoCommand>(model));
  EXPECT_EQ(only<DoCommand>(model)->arguments, "rehearsal");
}

TEST_F(ChatKeys, AChosenChildIsFollowedAndCanBeCancelled) {
  story.begin("go");
  story.child("a");
  story.child("b");
  story.call_of_child("Read", "only-b-reads-this");
  key(KeyName::tab);
  EXPECT_EQ(story.state.chosen, SessionId("sess_a"));
  key(KeyName::down);
  EXPECT_EQ(story.state.chosen, SessionId("sess_b"));
  EXPECT_THAT(story.screen(80), HasSubstr("│ → Read only-b-reads-this"));
  const auto intents = type("c");
  ASSERT_TRUE(only<CancelOne>(intents));
  EXPECT_EQ(only<CancelOne>(intents)->session, SessionId("sess_b"));
  story.tell_child("b", RunEnded{Report{}});
  EXPECT_THAT(type("c"), IsEmpty()) << "it has ended";
  key(KeyName::escape);
  EXPECT_FALSE(story.state.chosen);
}

TEST_F(ChatKeys, WhatAChosenChildSaysIsReadWhileItSaysIt) {
  story.redactor.hide("hunter2hunter2");
  story.begin("go");
  story.child("a");
  apply_text(story.state, SessionId("sess_a"), "I have found\nthe key hunter2");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("I have found")));
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("│ I have found\n│ the key"), Not(HasSubstr("hunter2"))));
  apply_text(story.state, SessionId("sess_a"), "hunter2 is there now");
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("is there"), Not(HasSubstr("hunter2"))));
  apply_retry(story.state, SessionId("sess_a"));
  EXPECT_THAT(story.screen(80), Not(HasSubstr("I have found"))) << "it is asked for again";
  apply_text(story.state, SessionId("sess_a"), "once more");
  Reply whole;
  whole.message = {.role = Role::assistant, .text = "once more, and whole"};
  story.tell_child("a", ReplyReceived{whole});
  const std::string screen = story.screen(80);
  EXPECT_EQ(screen.find("│ once more"), screen.rfind("│ once more")) << "it is not told twice";
}

TEST_F(ChatKeys, WhatAChildDidIsReadBackBeyondTheScreen) {
  story.begin("go");
  story.child("a");
  for (int file = 0; file < 100; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("file99.txt"), Not(HasSubstr("│ → Read file60.txt"))));
  for (int page = 0; page < 4; ++page) key(KeyName::page_up);
  const std::string back = story.screen(80);
  EXPECT_THAT(back, AllOf(HasSubstr("│ → Read file50.txt"), Not(HasSubstr("│ → Read file99.txt"))));
  story.call_of_child("Read", "new.txt");
  const auto followed = [](const std::string& screen) { return screen.substr(0, screen.rfind("│ ")); };
  EXPECT_EQ(followed(story.screen(80)), followed(back)) << "what is read stays where it is";
  for (int page = 0; page < 40; ++page) key(KeyName::page_up);
  EXPECT_THAT(story.screen(80), HasSubstr("│ → Read file0.txt"));
  key(KeyName::escape);
  EXPECT_THAT(story.screen(80), HasSubstr("new.txt")) << "at the end again";
  EXPECT_TRUE(story.state.chosen);
  key(KeyName::page_up);
  for (int page = 0; page < 3; ++page) key(KeyName::page_down);
  EXPECT_EQ(story.state.scrolled, 0u);
}

TEST_F(ChatKeys, CtrlLClearsTheScreenAndIsNoKeyForAQuestionNorForTheLine) {
  story.begin("go");
  type("half a l");
  EXPECT_TRUE(only<ClearScreen>(key(KeyName::control, "l")));
  EXPECT_EQ(story.state.input.text, "half a l");
  set_text(story.state.input, "");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_TRUE(only<ClearScreen>(key(KeyName::control, "l")));
  EXPECT_TRUE(only<GiveAnswer>(type("y"))) << "it waits for no pause";
}

TEST_F(ChatKeys, WhatAChildDidLeavesAQuarterOfAHighScreenToWhatWasSaid) {
  story.begin("go");
  story.child("a");
  for (int file = 0; file < 100; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  key(KeyName::tab);
  const auto rows_of_frame = [this](int rows) {
    story.state.size = {80, rows};
    return frame_of(story.state).lines.size();
  };
  EXPECT_EQ(rows_of_frame(50), 50U - 1 - 12) << "one row stays free anyway";
  EXPECT_EQ(rows_of_frame(18), 18U - 1 - 4) << "16 rows above the status line";
  EXPECT_EQ(rows_of_frame(17), 17U - 1) << "there is none to spare";
}

TEST_F(ChatKeys, WhatAChildDidIsThereAlsoWhereManyOthersAreAndItPrints) {
  story.begin("go");
  for (int child = 0; child < 12; ++child) story.child(fmt::format("c{}", child));
  story.call_of_child("Bash", "make");
  apply_output(story.state, SessionId("sess_c11"), "one\ntwo\nthree\n");
  key(KeyName::tab);
  while (story.state.chosen != SessionId("sess_c11")) key(KeyName::down);
  for (const int rows : {17, 18, 19, 24}) {
    for (const int columns : {40, 80})
      EXPECT_THAT(story.screen(columns, rows), HasSubstr("│ → Bash make")) << columns << " x " << rows;
  }
}

// Also where several children, the keys and what is printed leave a row or two for it.
TEST_F(ChatKeys, NoLineIsSkippedOfWhatAChildDidOnTheSmallestScreen) {
  story.begin("go");
  for (const auto* label : {"b", "c", "d", "e", "f", "a"}) story.child(label);
  constexpr int kFiles = 20;
  for (int file = 0; file < kFiles; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  apply_output(story.state, SessionId("sess_a"), "one\ntwo\nthree\n");
  key(KeyName::tab);
  while (story.state.chosen != SessionId("sess_a")) key(KeyName::down);
  const auto is_read = [&](int file) {
    return story.screen(40, 10).contains(fmt::format("│ → Read file{}.txt", file));
  };
  std::set<int> read;
  for (int page = 0; page < 2 * kFiles; ++page) {
    for (int file = 0; file < kFiles; ++file) {
      if (is_read(file)) read.insert(file);
    }
    key(KeyName::page_up);
  }
  EXPECT_EQ(read.size(), static_cast<std::size_t>(kFiles));
  EXPECT_TRUE(is_read(0)) << "and there it stays:\n" << story.screen(40, 10);
}

TEST_F(ChatKeys, WhatAChildDidIsReadBackWhileItSaysMoreThanTheScreenHolds) {
  story.begin("go");
  story.child("a");
  story.call_of_child("Read", "first.txt");
  for (int line = 0; line < 40; ++line)
    apply_text(story.state, SessionId("sess_a"), fmt::format("said {}\n", line));
  story.state.size = {80, 24};
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), Not(HasSubstr("│ → Read first.txt")));
  for (int page = 0; page < 3; ++page) {
    key(KeyName::page_up);
    EXPECT_THAT(story.screen(80), HasSubstr("│ → Read first.txt")) << page;
  }
  key(KeyName::page_down);
  EXPECT_EQ(story.state.scrolled, 0U);
}

TEST_F(ChatKeys, WhatChildrenDidCanBeReadWhenAllHasEnded) {
  story.begin("go");
  story.child("a");
  story.call_of_child("Read", "a.txt");
  story.tell_child("a", RunEnded{Report{}});
  story.tell_root(RunEnded{Report{}});
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("│ → Read a.txt"), HasSubstr("❯ [a]")));
  for (const std::string_view letter : {"n", "b", "c", "x"}) {
    EXPECT_THAT(type(letter), IsEmpty());
    EXPECT_EQ(story.state.input.text, "") << letter << " is no message";
    EXPECT_THAT(story.screen(80), AllOf(HasSubstr("❯ [a]"), HasSubstr("it is not at work; Esc goes back")))
        << letter;
  }
  key(KeyName::escape);
  type("next");
  EXPECT_EQ(story.state.input.text, "next");
}

TEST_F(ChatKeys, AChosenChildCanBeSentToTheBackground) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), HasSubstr("b background"));
  const auto intents = type("b");
  ASSERT_TRUE(only<SendToBackground>(intents));
  EXPECT_EQ(only<SendToBackground>(intents)->session, SessionId("sess_a"));
  EXPECT_THAT(story.screen(80), HasSubstr("a goes to the background"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(type("b"), IsEmpty()) << "it has ended";
  key(KeyName::escape);
  type("b");
  EXPECT_EQ(story.state.input.text, "b") << "no child is chosen";
}

// Begins a child by a call of the root.
void start_by(ChatStory& story, const std::string& tool, int call, const std::string& label) {
  story.tell_root(CallStarted{tool, label}, call);
  Session session;
  session.delegation = DelegationKey{{{story.root, 1}, story.step, call}, 0};
  story.tell_child(label, SessionCreated{session});
  story.child(label);
}

TEST_F(ChatKeys, WhatSendsAChildToTheBackgroundNamesTheToolThatStartedIt) {
  story.begin("go");
  start_by(story, "task", 0, "a");
  start_by(story, "Delegate", 1, "b");
  key(KeyName::tab);
  EXPECT_TRUE(only<SendToBackground>(type("b")));
  EXPECT_THAT(story.state.notice.text,
              AllOf(HasSubstr("a goes to the background"), HasSubstr("task"), Not(HasSubstr("Delegate"))));
  story.tell_root(Detached{SessionId("sess_a")}, 0);
  EXPECT_EQ(story.state.notice.text, "") << "it is there";
  EXPECT_THAT(type("b"), IsEmpty());
  EXPECT_THAT(story.state.notice.text, HasSubstr("a works in the background already"));

  key(KeyName::down);
  EXPECT_THAT(type("b"), IsEmpty()) << "one result for all";
  EXPECT_THAT(story.state.notice.text, HasSubstr("b stays: Delegate waits for all that it started"));
  key(KeyName::escape);
  story.take_out();
  type("/background b");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("b stays: Delegate"));
}

TEST_F(ChatKeys, AChildThatACallWaitsForAgainCanBeSentToTheBackgroundAgain) {
  story.begin("go");
  start_by(story, "task", 0, "a");
  story.tell_root(Detached{SessionId("sess_a")}, 0);
  story.reply("", {});
  story.tell_root(CallStarted{"answer_subagent", "red"}, 0);
  story.tell_root(Attached{SessionId("sess_a")}, 0);
  key(KeyName::tab);
  EXPECT_TRUE(only<SendToBackground>(type("b")));
  EXPECT_THAT(story.state.notice.text, HasSubstr("answer_subagent returns now"));
}

TEST_F(ChatKeys, AChosenChildCanBeNudged) {
  story.begin("go");
  story.child("a");
  story.child("b");
  key(KeyName::tab);
  EXPECT_THAT(type("n"), IsEmpty());
  type("be brief, c");
  EXPECT_THAT(story.screen(80), HasSubstr("to it ❯ be brief, c"));
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<NudgeOne>(intents));
  EXPECT_EQ(only<NudgeOne>(intents)->session, SessionId("sess_a"));
  EXPECT_EQ(only<NudgeOne>(intents)->text, "be brief, c");
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_EQ(story.state.chosen, SessionId("sess_a")) << "it is still followed";
  EXPECT_THAT(story.state.queued, IsEmpty()) << "it is nothing for the root";
}

TEST_F(ChatKeys, ThatANudgeIsReadSoonIsSaidUntilItIs) {
  constexpr std::string_view kSaid = "a reads it before its next step";
  const auto nudge = [this] {
    type("n");
    type("be brief");
    key(KeyName::enter);
  };
  story.begin("go");
  story.child("a");
  story.child("b");
  key(KeyName::tab);
  nudge();
  story.tell_child("a", Nudged{"n1", Source::person, "be brief"});
  story.tell_child("a", Delivered{"report of another", Source::child, "done"});
  story.tell_child("b", Delivered{"n2", Source::person, "be brief"});
  story.tell_child("b", RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), HasSubstr(kSaid)) << "it has not read it yet";
  story.tell_child("a", Delivered{"n1", Source::person, "be brief"});
  EXPECT_THAT(story.screen(80), Not(HasSubstr(kSaid)));
  nudge();
  EXPECT_THAT(story.screen(80), HasSubstr(kSaid)) << "control";
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), Not(HasSubstr(kSaid)));
}

TEST_F(ChatKeys, WhatIsSaidOfAChildDoesNotTakeAwayWhatIsSaidSince) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  type("nbe brief");
  key(KeyName::enter);
  key(KeyName::control, "c");
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.state.notice.text, HasSubstr("cancelling"));
  story.tell_root(RunEnded{Report{}});
  EXPECT_EQ(story.state.notice.text, "") << "all is cancelled";
}

TEST_F(ChatKeys, AChosenChildThatAsksItsParentCanBeAnswered) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  EXPECT_THAT(type("a"), IsEmpty());
  EXPECT_EQ(story.state.typing, Typing::input) << "it asks nothing";
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  EXPECT_THAT(story.screen(80), HasSubstr("a answer"));
  type("a");
  type("the red one");
  EXPECT_THAT(story.screen(80), HasSubstr("answer ❯ the red one"));
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(intents));
  EXPECT_EQ(only<GiveAnswer>(intents)->question_id, "q1");
  EXPECT_EQ(only<GiveAnswer>(intents)->answer, (Answer{AnswerKind::text, "the red one"}));
}

TEST_F(ChatKeys, AnAnswerThatComesTooLateIsToldAsSuch) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  type("a");
  type("late");
  EXPECT_TRUE(story.state.asked_at.contains(SessionId("sess_a")));
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "by its parent"}});
  EXPECT_FALSE(story.state.asked_at.contains(SessionId("sess_a"))) << "it is answered";
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("meanwhile"));
}

TEST_F(ChatKeys, AChildThatHasEndedWithoutAnAnswerDoesNotAskAnyMore) {
  story.begin("go");
  story.child("a");
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  ASSERT_TRUE(story.state.asked_at.contains(SessionId("sess_a")));
  story.tell_child("a", RunEnded{});
  EXPECT_FALSE(story.state.asked_at.contains(SessionId("sess_a")));
}

TEST_F(ChatKeys, AnAnswerIsToTheQuestionThatWasAskedWhenItWasBegun) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  type("a");
  type("the red one");
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "by its parent"}});
  story.ask("a", "Delete all?", {}, QuestionKind::to_parent);
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("meanwhile"));
}

TEST_F(ChatKeys, WhatIsTypedForAChildIsNotSentToTheChatWhenAllHasEnded) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  type("n");
  type("be brief");
  story.take_out();
  story.tell_root(RunEnded{Report{}});
  EXPECT_THAT(story.take_out(), HasSubstr("not told, as all has ended: be brief"));
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_EQ(story.state.typing, Typing::input);
}

TEST_F(ChatKeys, ChildrenAreSteeredByCommandsToo) {
  const auto command = [this](std::string_view text) {
    type(text);
    return key(KeyName::enter);
  };
  story.begin("go");
  story.child("a");
  story.child("a b");
  const auto nudged = command("/nudge a b be brief");
  ASSERT_TRUE(only<NudgeOne>(nudged));
  EXPECT_EQ(only<NudgeOne>(nudged)->session, SessionId("sess_a b")) << "the longest label that fits";
  EXPECT_EQ(only<NudgeOne>(nudged)->text, "be brief");
  const auto cancelled = command("/cancel a");
  ASSERT_TRUE(only<CancelOne>(cancelled));
  EXPECT_EQ(only<CancelOne>(cancelled)->session, SessionId("sess_a"));
  EXPECT_TRUE(only<SendToBackground>(command("/background a")));
  story.take_out();
  EXPECT_THAT(command("/answer a red"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("asks its parent nothing"));
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  const auto answered = command("/answer a red");
  ASSERT_TRUE(only<GiveAnswer>(answered));
  EXPECT_EQ(only<GiveAnswer>(answered)->answer, (Answer{AnswerKind::text, "red"}));
  EXPECT_THAT(command("/nudge a"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("what it is told"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(command("/cancel a"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("no child of that name is at work"));
}

TEST_F(ChatKeys, AnAnswerByCommandIsToWhatWasAskedWhenTheLineWasBegun) {
  story.begin("go");
  story.child("a");
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  type("/answer a the red one");
  const auto in_time = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(in_time));
  EXPECT_EQ(only<GiveAnswer>(in_time)->question_id, "q1");

  type("/answer a the red one");
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "by its parent"}});
  story.take_out();
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("answered meanwhile"));

  type("/answer a the red");
  story.ask("a", "Delete all?", {}, QuestionKind::to_parent);
  type(" one");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "it asked nothing when the line was begun";
  EXPECT_THAT(story.take_out(), HasSubstr("something while you typed"));

  type("/answer a the red");
  story.tell_child("a", QuestionAnswered{"q2", {AnswerKind::text, "by its parent"}});
  story.ask("a", "Delete the rest?", {}, QuestionKind::to_parent);
  type(" one");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("something while you typed"));

  type("/answer a no");
  const auto again = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(again)) << "typed again it is to what is asked now";
  EXPECT_EQ(only<GiveAnswer>(again)->question_id, "q3");
}

TEST_F(ChatKeys, AChildThatSharesItsLabelWithAnothersIsNamedByItsId) {
  const auto command = [this](std::string_view text) {
    type(text);
    return key(KeyName::enter);
  };
  const auto start_twin = [this](const std::string& id, const std::string& parent) {
    story.tell(SessionId(id), {SessionId("sess_" + parent), "twin", "reader"}, RunStarted{});
  };
  story.begin("go");
  story.child("a");
  story.child("b");
  start_twin("sess_1", "a");
  start_twin("sess_2", "b");
  story.take_out();
  EXPECT_THAT(command("/cancel twin"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("several are called twin; give the id of /tree"));
  const auto cancelled = command("/cancel sess_2");
  ASSERT_TRUE(only<CancelOne>(cancelled));
  EXPECT_EQ(only<CancelOne>(cancelled)->session, SessionId("sess_2"));
  const auto nudged = command("/nudge sess_1 be brief");
  ASSERT_TRUE(only<NudgeOne>(nudged));
  EXPECT_EQ(only<NudgeOne>(nudged)->session, SessionId("sess_1"));
  EXPECT_EQ(only<NudgeOne>(nudged)->text, "be brief");
  story.tell(SessionId("sess_1"), {SessionId("sess_a"), "twin", "reader"}, RunEnded{Report{}});
  const auto left = command("/cancel twin");
  ASSERT_TRUE(only<CancelOne>(left)) << "the other has ended";
  EXPECT_EQ(only<CancelOne>(left)->session, SessionId("sess_2"));
}

TEST_F(ChatKeys, WithATextInTheLineNoKeyIsForAChild) {
  story.begin("go");
  story.child("a");
  for (const auto& [name, text] : {std::pair(KeyName::paste, "see it"), std::pair(KeyName::control, "p")}) {
    story.state.input.history = {"see it"};
    key(KeyName::tab);
    ASSERT_TRUE(story.state.chosen);
    key(name, text);
    EXPECT_FALSE(story.state.chosen);
    EXPECT_THAT(type("c"), IsEmpty()) << "it cancels nobody";
    EXPECT_EQ(story.state.input.text, "see itc");
    set_text(story.state.input, "");
  }
}

TEST_F(ChatKeys, AListOfPathsThatComesLateIsNotOfferedForANudge) {
  story.begin("go");
  story.child("a");
  ASSERT_TRUE(only<ListFolder>(type("@src/m")));
  key(KeyName::control, "u");
  key(KeyName::tab);
  type("n@src/m");
  apply_listing(story.state, "src/", {"main.cc"});
  EXPECT_FALSE(story.state.completion.is_open());
}

TEST_F(ChatKeys, ANudgeCanBeGivenUp) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  type("nthis");
  EXPECT_THAT(key(KeyName::escape), IsEmpty());
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_TRUE(story.state.chosen);
  type("n ");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "nothing was said";
  type("nthat");
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "it has ended";
  EXPECT_THAT(story.screen(80), HasSubstr("was not told"));
}

}  // namespace
}  // namespace deputy
