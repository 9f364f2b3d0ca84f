// The chat on a terminal whose other end is the test: the flows that people use most, byte by byte. What a
// real terminal makes of these bytes is seen in terminal_real_time_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "base/text.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

class ChatOnATerminal : public DeputyTest {
 protected:
  std::unique_ptr<Running> begin(const std::string& model, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--model", model, "--color", "never"});
    auto chat = chat_on_terminal(std::move(more));
    chat->read_screen_until("❯");
    return chat;
  }
  static void expect_quits(Running& chat) {
    chat.type("/quit\r");
    chat.read_screen_until("Kept as sess_");
    EXPECT_EQ(chat.wait().status, 0);
  }
  // Says far more than a terminal takes that nobody reads.
  std::string talkative() {
    std::string replies = R"({"text":"half way","calls":[{"name":"Note","arguments":{"content":"first"}}]},)";
    for (int reply = 0; reply < 8; ++reply) {
      std::string text;
      for (int line = 0; line < 200; ++line) text += fmt::format("Line {} of {}.\\n\\n", line, reply);
      replies += fmt::format(R"({{"text":"{}","calls":[{{"name":"Note","arguments":{{"content":"{}"}}}}]}},)",
                             text, reply);
    }
    return script(R"({"v":1,"sessions":[{"replies":[)" + replies + R"({"text":"All told."}]}]})");
  }
};

TEST_F(ChatOnATerminal, DelegatesAfterApproval) {
  auto chat = begin(delegating("10"));
  chat->type("review this\r");
  EXPECT_THAT(chat->read_screen_until("(y)"), HasSubstr("Spawn 2 subagents: [quick] p; [slow] p"));
  chat->type("y");
  EXPECT_THAT(chat->read_screen_until("Both have reported."), HasSubstr("[quick]"));
  expect_quits(*chat);
}

TEST_F(ChatOnATerminal, AsksAndTakesASuggestionOrWords) {
  auto chat = begin(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"ask_user","arguments":{"question":"Which colour?","suggestions":["red","blue"]}}]},
    {"calls":[{"name":"ask_user","arguments":{"question":"How dark?"}}],"expect":{"contains":"blue"}},
    {"text":"As dark as that.","expect":{"contains":"like the night"}}]}]})"));
  chat->type("paint\r");
  chat->read_screen_until("(2) blue");
  chat->type("2");
  chat->read_screen_until("How dark?");
  chat->read_screen_until("(w)");
  chat->type("w");
  chat->read_screen_until("answer:");
  chat->type("like the night\r");
  chat->read_screen_until("As dark as that.");
  expect_quits(*chat);
}

TEST_F(ChatOnATerminal, CancelsOneChildAndTheOtherReports) {
  auto chat = begin(delegating("86400000"), {"--yes"});
  chat->type("go\r");
  chat->read_screen_until("half way");
  chat->type("\t");
  chat->read_screen_until("❯ [quick]");
  chat->type("\x1b[B");
  chat->read_screen_until("❯ [slow]");
  chat->type("c");
  EXPECT_THAT(chat->read_screen_until("Both have reported."), HasSubstr("cancelled"));
}

TEST_F(ChatOnATerminal, IsLeftByTwoInterruptsOfWhichNoneEmptiedTheLineAsItsHelpSays) {
  auto chat = begin(script(R"({"v":1,"sessions":[{"replies":[{"text":"never"}]}]})"));
  chat->type("/help\r");
  chat->read_screen_until("text in the line goes first");
  chat->type("abc");
  chat->read_screen_until("abc");
  chat->type("\x03\x03");
  chat->read_screen_until("Ctrl-C twice within 2 s leaves");
  chat->type("\x03");
  EXPECT_EQ(chat->wait().status, 130);
}

TEST_F(ChatOnATerminal, GoesOnAfterAKillWhereItWas) {
  auto killed = begin(delegating("86400000"), {"--yes"});
  killed->type("go\r");
  killed->read_screen_until("half way");
  killed->send(SIGKILL);
  EXPECT_EQ(killed->wait().status, 128 + SIGKILL);
  auto chat = begin(delegating("10"), {"--yes"});
  chat->type("/resume\r");
  EXPECT_THAT(chat->read_screen_until("Both have reported."), HasSubstr("Going on with sess_"));
  expect_quits(*chat);
}

TEST_F(ChatOnATerminal, ThatGoesOnWithWhatWasLeftFromItsStartDoesNotOfferItToo) {
  auto killed = begin(delegating("86400000"), {"--yes"});
  killed->type("go\r");
  killed->read_screen_until("half way");
  killed->send(SIGKILL);
  EXPECT_EQ(killed->wait().status, 128 + SIGKILL);

  auto refused = begin("rehearsal");
  refused->type("/resume\r");
  EXPECT_THAT(refused->read_screen_until("needs the model"), testing::Not(HasSubstr("Going on with")));
  refused->send(SIGKILL);
  EXPECT_EQ(refused->wait().status, 128 + SIGKILL);

  auto chat = chat_on_terminal(
      {"chat", "--resume", "newest", "--yes", "--model", delegating("10"), "--color", "never"});
  EXPECT_THAT(chat->read_screen_until("Both have reported."), testing::Not(HasSubstr("Left unfinished")));
  expect_quits(*chat);
}

TEST_F(ChatOnATerminal, IsAloneInItsSessionUntilItIsLeft) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."},{"text":"Still here."}]}]})");
  auto first = begin(model);
  first->type("hello\r");
  first->read_screen_until("Hello.");
  EXPECT_EQ(deputy({"sessions", "tail", "newest"}).status, 0);  // ends with the run
  auto second = begin(model);
  second->type("/resume newest\r");
  second->read_screen_until("is run by process");
  second->type("/resume\r");
  second->read_screen_until("there is no earlier session");
  first->type("more\r");
  first->read_screen_until("Still here.");
  expect_quits(*first);
  second->type("/resume newest\r");
  second->read_screen_until("Still here.");
  expect_quits(*second);
}

TEST_F(ChatOnATerminal, IsHeardWhileOnlyChildrenInTheBackgroundWork) {
  auto chat = begin(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look","run_in_background":true}}]},
    {"text":"I am free."},{"text":"Heard you.","expect":{"contains":"and now?"}}]},
  {"match":{"agent":"explore"},"replies":[{"first_byte_ms":86400000,"text":"never"}]}]})"),
                    {"--yes"});
  chat->type("go\r");
  chat->read_screen_until("I am free.");
  chat->type("and now?\r");
  chat->read_screen_until("Heard you.");
  expect_quits(*chat);
}

TEST_F(ChatOnATerminal, RefusesAModelThatItDoesNotHaveAndListsThoseOfItsProviders) {
  auto chat = begin("rehearsal");
  chat->type("/model rehearsal/yyy\r");
  chat->read_screen_until("none called 'yyy'");
  chat->type("/model nosuch\r");
  chat->read_screen_until("ollama, openai");  // those with an address, sorted
  chat->type("/quit\r");
  EXPECT_EQ(chat->wait().status, 0);
}

TEST_F(ChatOnATerminal, NamesTheModelAtItsEndThatAnsweredLast) {
  const auto first = script(R"({"v":1,"sessions":[{"replies":[{"text":"I am the first."}]}]})");
  const auto other = script(
      R"({"v":1,"sessions":[{"replies":[{"text":"unused"},{"text":"I am the other."}]}]})", "other.json");
  auto chat = begin(first);
  chat->type("who?\r");
  chat->read_screen_until("I am the first.");
  chat->type("/model " + other + "\r");
  chat->read_screen_until("from the next input on");
  chat->type("and now?\r");
  chat->read_screen_until("I am the other.");
  chat->type("/quit\r");
  EXPECT_THAT(chat->read_screen_until("--resume sess_"), HasSubstr("chat --model " + other));
  EXPECT_EQ(chat->wait().status, 0);
}

// As by Ctrl-S, or a connection that stands still.
TEST_F(ChatOnATerminal, GoesOnWhereNobodyReadsItAndShowsAllOfItOnceSomebodyDoes) {
  auto chat = begin(talkative());
  chat->type("go\r");
  chat->read_screen_until("half way");
  // Ends with the run; would wait for ever where that waits for the terminal.
  const auto followed = deputy({"sessions", "tail", "newest"});
  EXPECT_EQ(followed.status, 0) << followed.err;
  EXPECT_THAT(chat->read_screen_until("All told."), HasSubstr("Line 199 of 7."));
  expect_quits(*chat);
}

TEST_F(ChatOnATerminal, InPlainLinesNothingIsApprovedThatTheScreenHasNotShown) {
  auto chat = chat_on_terminal({"--plain", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"text":"half way","calls":[{"name":"Note","arguments":{"content":"first"}}]},
    {"first_byte_ms":5000,"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},
    {"text":"Written."}]}]})")});
  chat->read_screen_until("> ");
  chat->type("go\n");
  chat->read_screen_until("first");  // nothing else is written before the question
  chat->stop_screen();
  auto tail = start({"sessions", "tail", "newest", "--output", "stream-json"});
  tail->read_until(R"("event":"permission")");
  // Longer than a question waits until it is written; each look takes some tens of milliseconds.
  for (int look = 0; look < 40 && !std::filesystem::exists(work() / "a.txt"); ++look) {
    chat->type("y\n");
    EXPECT_EQ(deputy({"sessions", "show", "newest"}).status, 0);
  }
  chat->let_screen_go_on();
  EXPECT_THAT(chat->read_screen_until("answer: "), HasSubstr("a.txt"));
  chat->send(SIGKILL);
  EXPECT_EQ(chat->wait().status, 128 + SIGKILL);
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

TEST_F(ChatOnATerminal, InPlainLinesWhatIsAskedOfAChildIsAcknowledged) {
  auto chat = chat_on_terminal({"--plain", "--color", "never", "--yes", "--model", delegating("86400000")});
  chat->read_screen_until("> ");
  chat->type("go\n");
  chat->read_screen_until("half way");
  chat->type("/nudge slow be brief\n");
  chat->read_screen_until("[slow] reads it before its next step");
  chat->type("/background slow\n");
  chat->read_screen_until("slow stays: Delegate waits for all that it started");
  chat->type("/cancel slow\n");
  const std::string told = chat->read_screen_until("[slow] is being cancelled");
  if (!told.contains("Both have reported.")) chat->read_screen_until("Both have reported.");
}

TEST_F(ChatOnATerminal, InPlainLinesWhatIsApprovedForAlwaysIsToldAndListedWithItsFile) {
  auto chat =
      chat_on_terminal({"--plain", "--color", "never", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},{"text":"Written."}]}]})")});
  chat->read_screen_until("> ");
  chat->type("go\n");
  chat->read_screen_until("answer: ");
  chat->type("a\n");
  std::string told = chat->read_screen_until("Written.");
  if (!told.contains("from now on")) told += chat->read_screen_until("from now on");
  EXPECT_THAT(told, HasSubstr("is allowed from now on"));
  chat->type("/permissions\n");
  const std::string listed = chat->read_screen_until("Where no rule speaks");
  EXPECT_THAT(listed, HasSubstr("(from now on, by"));
  EXPECT_THAT(listed, testing::Not(HasSubstr("(this session)")));
}

TEST_F(ChatOnATerminal, InPlainLinesAnInterruptIsToldAndPromptsAgain) {
  auto chat = chat_on_terminal({"--plain", "--color", "never", "--model",
                                script(R"({"v":1,"sessions":[{"replies":[{"text":"never"}]}]})")});
  chat->read_screen_until("> ");
  chat->send(SIGINT);
  chat->read_screen_until("\r\nCtrl-C twice within 2 s leaves; so does /quit\r\n> ");
}

TEST_F(ChatOnATerminal, DoesNotBeginWithASessionThatThereIsNot) {
  auto chat = chat_on_terminal({"chat", "--resume", "sess_1_none", "--model", "rehearsal"});
  chat->read_screen_until("there is no session 'sess_1_none'");
  EXPECT_EQ(chat->wait().status, 2);
}

TEST_F(ChatOnATerminal, InPlainLinesNoPromptFollowsTheEnd) {
  auto chat = chat_on_terminal({"--plain", "--color", "never", "--model",
                                script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})")});
  chat->read_screen_until("> ");
  chat->type("go\n");
  if (!chat->read_screen_until("Hello.").contains("> ")) chat->read_screen_until("> ");
  chat->type("/quit\n");
  EXPECT_THAT(chat->read_screen_until("Kept as"), testing::Not(HasSubstr("> ")));
  EXPECT_EQ(chat->wait().status, 0);
}

TEST_F(ChatOnATerminal, BreaksWhatItTellsOfAFailureAtSpacesAndNotHowToGoOn) {
  auto chat =
      chat_on_terminal({"--plain", "--color", "never", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"error":"the model of this test is out of order today and will stay so until somebody mends it"}]}]})")});
  chat->read_screen_until("> ");
  chat->type("go\n");
  const std::string shown = chat->read_screen_until("mends");
  EXPECT_THAT(shown, HasSubstr("error"));
  for (const auto line : lines_of(shown)) EXPECT_LT(utf8_length(line), 80U) << line;
  chat->type("/quit\n");
  EXPECT_THAT(chat->read_screen_until("--resume sess_"), HasSubstr(".\r\nTo go on: `"))
      << "a line of its own";
  EXPECT_EQ(chat->wait().status, 0);
}

TEST_F(ChatOnATerminal, EventsThatNobodyReadsHoldNobodyUpEither) {
  auto run = chat_on_terminal({"run", "go", "--model", talkative(), "--output", "stream-json"});
  run->read_screen_until(R"("event":"session.progress")");
  EXPECT_EQ(deputy({"sessions", "tail", "newest"}).status, 0);
  run->read_screen_until(R"("event":"result")");
  EXPECT_EQ(run->wait().status, 0);
}

TEST_F(ChatOnATerminal, EndsByTheFirstSignalWhereTheTerminalTakesNothing) {
  const std::vector<std::string> common{"--yes", "--model", delegating("86400000")};
  struct Case {
    std::vector<std::string> words;
    std::string prompt;
    std::string typed;
  };
  for (const auto& [words, prompt, typed] :
       {Case{{"chat"}, "❯", "go\r"}, Case{{"--plain"}, "> ", "go\n"}, Case{{"run", "go"}, "", ""}}) {
    SCOPED_TRACE(words.front());
    std::vector<std::string> all = words;
    all.insert(all.end(), common.begin(), common.end());
    auto program = chat_on_terminal(std::move(all));
    program->read_screen_until(prompt);
    program->type(typed);
    program->read_screen_until("half way");
    program->stop_screen();
    EXPECT_EQ(program->is_terminal_cooked(), words.front() != "chat") << "control";
    program->send(SIGTERM);
    EXPECT_EQ(program->wait_for_end(), 130);
    EXPECT_TRUE(program->is_terminal_cooked());
  }
}

TEST_F(ChatOnATerminal, ARunIsLeftAtOnceByASecondSignalWhereTheTerminalTakesNothing) {
  auto run = chat_on_terminal({"run", "go", "--yes", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Bash","arguments":{"command":"trap '' TERM; while :; do sleep 1; done"}}]},
    {"text":"never"}]}]})")});
  run->read_screen_until("Bash");
  run->stop_screen();
  run->send(SIGINT);
  run->send(SIGTERM);
  EXPECT_EQ(run->wait_for_end(), 130);
}

TEST_F(ChatOnATerminal, IsNotPausedWhereTheTerminalTakesNothing) {
  auto chat = begin(delegating("86400000"));
  chat->stop_screen();
  chat->type("\x1a");
  EXPECT_EQ(deputy({"models"}).status, 0);  // takes longer than it takes to read a key
  chat->send(SIGTERM);
  EXPECT_EQ(chat->wait_for_end(), 130) << "in order: it neither waits nor stands still";
}

TEST_F(ChatOnATerminal, IsShownAgainAndInItsModeOnceItIsContinued) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})");
  auto chat = begin(model);
  chat->send(SIGSTOP);
  chat->cook_terminal();
  chat->send(SIGCONT);
  chat->read_screen_until("❯");
  EXPECT_FALSE(chat->is_terminal_cooked());
  chat->type("hello\r");
  chat->read_screen_until("Hello.");
  expect_quits(*chat);

  auto plain = chat_on_terminal({"--plain", "--model", model});
  for (int time = 0; time < 3; ++time) {
    plain->read_screen_until("> ");
    plain->send(SIGSTOP);
    plain->send(SIGCONT);
  }
}

// In order where it came before the chat gave the signals back, else by the signal itself.
TEST_F(ChatOnATerminal, AChatThatIsLeftAndWaitsForTheTerminalEndsByASignal) {
  auto chat = begin(script(R"({"v":1,"sessions":[{"replies":[{"text":"All told."}]}]})"));
  chat->type("go\r");
  chat->read_screen_until("All told.");
  EXPECT_EQ(deputy({"sessions", "tail", "newest"}).status, 0);  // ends with the run
  chat->stop_screen();
  chat->type("/quit\r");
  EXPECT_EQ(deputy({"sessions", "show", "newest"}).status, 0);  // takes longer than it takes to be left
  chat->send(SIGTERM);
  EXPECT_THAT(chat->wait_for_end(), ::testing::AnyOf(128 + SIGTERM, 130, 0));
  EXPECT_TRUE(chat->is_terminal_cooked());
}

// By the signal itself, or in order where it came before the run gave the signals back.
TEST_F(ChatOnATerminal, ARunThatOnlyWaitsForTheTerminalEndsByASignal) {
  auto run = chat_on_terminal({"run", "go", "--yes", "--model", delegating("1000")});
  run->read_screen_until("half way");
  run->stop_screen();
  EXPECT_EQ(deputy({"sessions", "tail", "newest"}).status, 0);  // ends with the run
  run->send(SIGTERM);
  EXPECT_THAT(run->wait_for_end(), ::testing::AnyOf(128 + SIGTERM, 130, 0));
}

// Nothing comes after the note that would carry it.
TEST_F(ChatOnATerminal, AnEventThatWasHeldUpIsNotKeptUntilTheNextOne) {
  auto run =
      chat_on_terminal({"run", "go", "--output", "stream-json", "--model", script(R"({"v":1,"sessions":[
    {"replies":[{"calls":[{"name":"List","arguments":{"path":"."}}]},
                {"first_byte_ms":1000,"calls":[{"name":"List","arguments":{"path":"."}}]},
                {"first_byte_ms":86400000,"text":"never"}]}]})")});
  constexpr std::string_view kSecond = R"("step":1,"stop")";
  run->read_screen_until(R"("event":"session.progress")");
  run->stop_screen();
  auto tail = start({"sessions", "tail", "newest", "--output", "stream-json"});
  tail->read_until(kSecond);
  run->let_screen_go_on();
  run->read_screen_until(kSecond);
}

}  // namespace
}  // namespace deputy
