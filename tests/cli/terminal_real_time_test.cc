// The interactive interface on a real terminal, in the flows that people use most.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "deputy_program.h"
#include "tmux.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kDelegates = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"text":"I ask two.","calls":[{"name":"Delegate","arguments":{"tasks":[
      {"label":"quick","prompt":"p"},{"label":"slow","prompt":"p"}]}}]},
    {"text":"Both have *reported*."},
    {"text":"And again. See [here](https://example.org)."}]},
  {"match":{"label":"quick"},"replies":[{"text":"quickly done"}]},
  {"match":{"label":"slow"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":WAIT,"text":"slowly done"}]}]})";

std::int64_t wake_ups_of(int program) {
  constexpr std::string_view kCount = "voluntary_ctxt_switches:";
  std::int64_t count = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(program) + "/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(kCount)) count += std::stoll(line.substr(kCount.size()));
  }
  return count;
}

class TerminalRealTime : public DeputyTest {
 protected:
  TerminalRealTime() : tmux(root() / "tmux", 80, 24) {}
  void chat(std::string_view model, std::vector<std::string> words = {},
            std::map<std::string, std::string> besides = {}) {
    open(model, std::move(words), std::move(besides));
    tmux.wait_for("❯");
  }
  void plain_chat(std::string_view model) {
    open(model, {"--plain"}, {});
    tmux.wait_for(">");
  }
  void open(std::string_view model, std::vector<std::string> words,
            std::map<std::string, std::string> environment) {
    words.insert(words.begin(), {"--model", std::string(model)});
    environment.insert({{"PATH", "/usr/bin:/bin"},
                        {"HOME", (root() / "person").string()},
                        {"DEPUTY_HOME", home().string()},
                        {"LC_ALL", "C.UTF-8"},
                        {"TERM", "screen"},
                        {"TZ", "UTC"},
                        {"OLLAMA_HOST", "127.0.0.1:1"}});
    tmux.run(work(), environment, words);
  }
  std::string delegating(std::string_view wait) {
    std::string text(kDelegates);
    text.replace(text.find("WAIT"), 4, wait);
    return script(text);
  }
  Tmux tmux;
};

TEST_F(TerminalRealTime, DelegatesAfterApprovalAndGoesOnTalking) {
  chat(delegating("300"));
  tmux.type("review this");
  tmux.key("Enter");
  tmux.wait_for("asks for approval");
  EXPECT_THAT(tmux.screen(), HasSubstr("Spawn 2 subagents: [quick] p; [slow] p"));
  tmux.wait_for("(y)");
  tmux.key("y");
  tmux.wait_for("[slow]");
  tmux.wait_for("Both have reported.");
  EXPECT_THAT(tmux.history(), HasSubstr("[quick] ✓ complete"));
  tmux.type("again");
  tmux.key("Enter");
  tmux.wait_for("And again.");
  tmux.type("/quit");
  tmux.key("Enter");
  tmux.wait_for("Kept as sess_");
}

TEST_F(TerminalRealTime, ARefusalIsToldToTheModelWithItsReason) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},
    {"text":"As you wish.","expect":{"contains":"not today"}}]}]})"));
  tmux.type("write");
  tmux.key("Enter");
  tmux.wait_for("(n)");
  tmux.key("n");
  tmux.wait_for("reason:");
  tmux.type("not today");
  tmux.key("Enter");
  tmux.wait_for("As you wish.");
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

TEST_F(TerminalRealTime, AQuestionIsAnsweredByASuggestionOrInWords) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"ask_user","arguments":{"question":"Which colour?","suggestions":["red","blue"]}}]},
    {"calls":[{"name":"ask_user","arguments":{"question":"How dark?"}}],"expect":{"contains":"blue"}},
    {"text":"As dark as that.","expect":{"contains":"like the night"}}]}]})"));
  tmux.type("paint");
  tmux.key("Enter");
  tmux.wait_for("Which colour?");
  tmux.wait_for("(2) blue");
  tmux.key("2");
  tmux.wait_for("How dark?");
  tmux.wait_for("(w)");
  tmux.key("w");
  tmux.wait_for("answer:");
  tmux.type("like the night");
  tmux.key("Enter");
  tmux.wait_for("As dark as that.");
}

TEST_F(TerminalRealTime, AChildsQuestionToItsParentIsAnsweredInItsPlace) {
  chat(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look","run_in_background":true}}]},
    {"first_byte_ms":86400000,"text":"never"}]},
  {"match":{"agent":"explore"},"replies":[
    {"calls":[{"name":"ask_parent","arguments":{"question":"Which one?"}}]},
    {"text":"taken","expect":{"contains":"the red one"}}]}]})"),
       {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("asks: Which one?");
  tmux.key("Tab");
  tmux.wait_for("a answer");
  tmux.key("a");
  tmux.type("the red one");
  tmux.wait_for("answer ❯ the red one");
  tmux.key("Enter");
  tmux.wait_for("✓ complete");
}

TEST_F(TerminalRealTime, AnApprovalForAlwaysIsARuleOfTheNextChat) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},
    {"text":"Written."}]}]})");
  chat(model);
  tmux.type("write");
  tmux.key("Enter");
  tmux.wait_for("(a)");
  tmux.key("a");
  tmux.wait_for("Written.");
  EXPECT_THAT(contents(root() / "person/.config/deputy/config.toml"), HasSubstr("\"Write(a.txt)\""));
  std::filesystem::remove(work() / "a.txt");
  chat(model);
  tmux.type("write");
  tmux.key("Enter");
  tmux.wait_for("Written.");
}

TEST_F(TerminalRealTime, CtrlCCancelsWhatRunsAndASecondLeaves) {
  chat(delegating("86400000"), {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  tmux.key("C-c");
  tmux.wait_for("cancelled");
  tmux.wait_until_gone("Ctrl-C cancels");
  tmux.type("still here");
  tmux.wait_for("❯ still here");
  tmux.key("C-u");
  tmux.key("C-c");
  tmux.key("C-c");
  tmux.wait_for("Kept as sess_");
}

TEST_F(TerminalRealTime, CtrlCTwiceWhileItRunsLeavesWithTheStatusOfWhatIsCancelled) {
  chat(delegating("86400000"), {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  tmux.key("C-c");
  tmux.key("C-c");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 130);
}

TEST_F(TerminalRealTime, OneChildIsCancelledAndTheOthersReport) {
  chat(delegating("86400000"), {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  tmux.key("Tab");
  tmux.wait_for("❯ [quick]");
  tmux.key("Down");
  tmux.wait_for("❯ [slow]");
  tmux.wait_for("c cancel");
  tmux.key("c");
  tmux.wait_for("Both have reported.");
  EXPECT_THAT(tmux.history(), HasSubstr("[slow] ✗ cancelled"));
  EXPECT_THAT(tmux.history(), HasSubstr("[quick] ✓ complete"));
}

TEST_F(TerminalRealTime, AChildIsNudgedAndSentToTheBackground) {
  chat(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look"}}]},
    {"text":"I am free."},{"text":"All in."}]},
  {"match":{"agent":"explore"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":3000,"calls":[{"name":"Note","arguments":{"content":"nearly"}}]},
    {"text":"slowly done","expect":{"contains":"be brief"}}]}]})"),
       {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  tmux.key("Tab");
  tmux.wait_for("n nudge");
  tmux.key("n");
  tmux.type("be brief");
  tmux.wait_for("to it ❯ be brief");
  tmux.key("Enter");
  tmux.wait_for("reads it before its next step");
  tmux.key("b");
  tmux.wait_for("I am free.");
  tmux.wait_for("All in.");
  EXPECT_THAT(tmux.history(), HasSubstr("[explore] ✓ complete"));
}

TEST_F(TerminalRealTime, ACommandThatRunsShowsWhatItPrints) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Bash","arguments":{"command":
      "printf 'half-%s\\n' way; until test -e go; do sleep 0.1; done"}}]},
    {"text":"It is built."}]}]})"),
       {"--yes"});
  tmux.type("build");
  tmux.key("Enter");
  tmux.wait_for("│ half-way");
  write(work() / "go", "");
  tmux.wait_for("It is built.");
  tmux.wait_until_gone("│ half-way");
}

TEST_F(TerminalRealTime, GoesOnAfterAKillWhereItWas) {
  const auto model = delegating("86400000");
  chat(model, {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  ::kill(tmux.program_id(), SIGKILL);
  tmux.wait_until_ended();
  chat(delegating("10"), {"--yes"});
  tmux.wait_for("Left unfinished; /resume ID goes on with it:");
  tmux.type("/resume");
  tmux.key("Enter");
  tmux.wait_for("Both have reported.");
  EXPECT_THAT(tmux.history(), HasSubstr("❯ go"));
}

TEST_F(TerminalRealTime, GoesOnAfterTheTerminalHungUp) {
  chat(delegating("86400000"), {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  tmux.hang_up();
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out, HasSubstr("main")) << "it was not cancelled";
  chat(delegating("10"), {"--yes"});
  tmux.wait_for("Left unfinished; /resume ID goes on with it:");
  tmux.type("/resume");
  tmux.key("Enter");
  tmux.wait_for("Both have reported.");
}

TEST_F(TerminalRealTime, AHangUpEndsAnIdleChatAndAPlainOne) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})");
  chat(model);
  tmux.hang_up();
  plain_chat(model);
  tmux.hang_up();
}

// What only the machine that the terminal stands on could do is not asked for: no clipboard, no links, no
// title. The screen is the ordinary one, so that a connection that breaks leaves its history.
TEST_F(TerminalRealTime, OverAConnectionItIsTheSameChat) {
  chat(delegating("300"), {},
       {{"SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22"},
        {"SSH_CLIENT", "192.0.2.1 50000 22"},
        {"SSH_TTY", "/dev/pts/9"},
        {"TERM", "xterm-256color"}});
  const auto bytes = root() / "streams/bytes";
  tmux.record(bytes);
  tmux.type("review this");
  tmux.key("Enter");
  tmux.wait_for("(y)");
  tmux.key("y");
  tmux.wait_for("Both have reported.");
  tmux.type("again");
  tmux.key("Enter");
  tmux.wait_for("And again.");
  tmux.type("/quit");
  tmux.key("Enter");
  tmux.wait_for("Kept as sess_");
  const std::string written = contents(bytes);
  EXPECT_THAT(written, HasSubstr("Both have"));
  for (const auto* local : {"\x1b]", "\x1bP", "\x1b[?1049", "\x1b[?1000", "\x1b[?1006"})
    EXPECT_THAT(written, Not(HasSubstr(local)));
}

TEST_F(TerminalRealTime, NoEscapeOfAModelACommandOrAFileReachesTheTerminal) {
  write(work() / "evil.txt", "\x1b[2J\x1b]0;owned\x07in a file\n");
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"text":"\u001b]0;owned\u0007said so","calls":[{"name":"Bash","arguments":{"command":
      "printf '\\033]0;owned\\007it printed\\n'; cat evil.txt; until test -e go; do sleep 0.1; done"}}]},
    {"calls":[{"name":"Read","arguments":{"file_path":"evil.txt"}},
              {"name":"Grep","arguments":{"pattern":"\u001b]0;owned\u0007"}}]},
    {"text":"All told.\u009b31m"}]}]})"),
       {"--yes"});
  const auto bytes = root() / "streams/bytes";
  tmux.record(bytes);
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("it printed");
  tmux.wait_for("in a file");
  write(work() / "go", "");
  tmux.wait_for("All told.");
  const std::string written = contents(bytes);
  EXPECT_THAT(written, HasSubstr("said so"));
  for (const auto* escape : {"\x1b]", "\x1b[2J\x1b", "\x07", "\xc2\x9b"})
    EXPECT_THAT(written, Not(HasSubstr(escape)));
}

// Of all its threads together.
TEST_F(TerminalRealTime, AnIdleChatWakesAtMostOnceASecond) {
  chat(delegating("10"), {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("Both have reported.");
  tmux.wait_until_gone("Ctrl-C cancels");
  const int program = tmux.program_id();
  const std::int64_t before = wake_ups_of(program);
  ::poll(nullptr, 0, 60'000);
  const std::int64_t woken = wake_ups_of(program) - before;
  ASSERT_GT(before, 0) << "control: it is counted";
  EXPECT_LE(woken, 60);
  tmux.type("again");
  tmux.key("Enter");
  tmux.wait_for("And again.");
  EXPECT_GT(wake_ups_of(program), before + woken) << "control: it goes on counting";
}

TEST_F(TerminalRealTime, WhatIsSaidOnLeavingGoesOnWithTheChat) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."},{"text":"Still here."}]}]})");
  chat(model);
  tmux.type("hello");
  tmux.key("Enter");
  tmux.wait_for("Hello.");
  tmux.type("/quit");
  tmux.key("Enter");
  tmux.wait_for("Kept as sess_");
  const std::string left = tmux.history();
  EXPECT_THAT(left, HasSubstr("--model"));
  const std::string id = left.substr(left.find("Kept as ") + 8, 22);

  chat("rehearsal");
  tmux.type("/resume " + id);
  tmux.key("Enter");
  tmux.wait_for(id + " needs the model");

  chat(model);
  tmux.type("/resume " + id);
  tmux.key("Enter");
  tmux.wait_for("Hello.");
  tmux.type("more");
  tmux.key("Enter");
  tmux.wait_for("Still here.");
}

TEST_F(TerminalRealTime, AChatIsCompactedAndThatUndone) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"text":"Nice to meet you."},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}}]}]})"));
  const auto say = [this](std::string_view text, std::string_view answer) {
    tmux.type(text);
    tmux.key("Enter");
    tmux.wait_for(answer);
    tmux.wait_until_gone("Ctrl-C cancels");
  };
  say("/compact", "nothing has been said yet");
  say("hello", "Nice to meet you.");
  say("/compact undo", "there is no compaction to undo");
  say("/compact", "Compacted: a summary stands for the first 2 messages.");
  say("remember", "I know.");
  say("/compact undo", "Compaction undone");
  EXPECT_THAT(tmux.history(), Not(HasSubstr("They greeted."))) << "it is for the model";
}

TEST_F(TerminalRealTime, AChatThatDoesNotFitIsCompactedAndGoesOn) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"text":"Nice to meet you."},
    {"text":"I was about to","error":{"kind":"context_exhausted"}},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}}]}]})"));
  tmux.type("hello");
  tmux.key("Enter");
  tmux.wait_for("Nice to meet you.");
  tmux.wait_until_gone("Ctrl-C cancels");
  tmux.type("remember");
  tmux.key("Enter");
  tmux.wait_for("Compacted: a summary stands for the first 4 messages.");
  tmux.wait_for("I know.");
}

TEST_F(TerminalRealTime, WhatWasLeftIsResumedWithTheModelThatWasChosenLastAndNeedsNoOther) {
  const std::string begun = R"({"v":1,"sessions":[{"replies":[{"text":"unused"},
    {"text":"I begin.","calls":[{"name":"Note","arguments":{"content":"half way"}}]},)";
  const auto other = script(begun + R"({"first_byte_ms":86400000,"text":"never"}]}]})", "other.json");
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"I am the first."}]}]})"));
  tmux.type("who?");
  tmux.key("Enter");
  tmux.wait_for("I am the first.");
  tmux.wait_until_gone("Ctrl-C cancels");
  tmux.type("/model " + other);
  tmux.key("Enter");
  tmux.wait_for("from the next input on");
  tmux.type("and now?");
  tmux.key("Enter");
  tmux.wait_for("I begin.");
  tmux.key("C-d");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  std::filesystem::remove(root() / "script.json");
  script(begun + R"({"text":"I am the other."}]}]})", "other.json");
  const auto ran = deputy({"resume"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("I am the other."));
}

TEST_F(TerminalRealTime, AnotherModelAnswersFromTheNextInputOn) {
  const auto other = script(
      R"({"v":1,"sessions":[{"replies":[{"text":"unused"},{"text":"I am the other."}]}]})", "other.json");
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"I am the first."}]}]})"));
  tmux.type("who?");
  tmux.key("Enter");
  tmux.wait_for("I am the first.");
  tmux.type("/model " + other);
  tmux.key("Enter");
  tmux.wait_for("from the next input on");
  tmux.type("and now?");
  tmux.key("Enter");
  tmux.wait_for("I am the other.");
}

TEST_F(TerminalRealTime, WhatIsOlderThanSevenDaysGoesWhenAChatBegins) {
  deputy({"sessions", "ls"});  // makes the state folder
  const auto report = home() / "reports/sess_1_reader/old.md";
  const auto fresh = home() / "reports/sess_1_reader/fresh.md";
  std::filesystem::create_directories(report.parent_path());
  for (const auto& file : {report, fresh}) write(file, "a report");
  std::filesystem::last_write_time(report,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::days(8));
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})"));
  tmux.type("hello");
  tmux.key("Enter");
  tmux.wait_for("Hello.");
  tmux.type("/quit");
  tmux.key("Enter");
  tmux.wait_for("Kept as sess_");
  EXPECT_FALSE(std::filesystem::exists(report));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

TEST_F(TerminalRealTime, PlainLinesThatWereTypedAheadAreTakenInTurn) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[
    {"first_byte_ms":300,"text":"One is done."},{"first_byte_ms":300,"text":"Two is done."}]}]})"));
  tmux.type("one\ntwo\n/quit\nthree\n");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 0);
  EXPECT_THAT(tmux.history(), HasSubstr("One is done."));
  EXPECT_THAT(tmux.history(), HasSubstr("Two is done."));
}

TEST_F(TerminalRealTime, TheEndOfPlainInputLeavesInOrder) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[{"first_byte_ms":300,"text":"One is done."}]}]})"));
  tmux.type("one\n");
  tmux.key("C-d");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 0);
  EXPECT_THAT(tmux.history(), HasSubstr("One is done."));
}

TEST_F(TerminalRealTime, PlainCommandsThatWereTypedAheadAreTakenInTurn) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[
    {"first_byte_ms":300,"text":"Nice to meet you."},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}}]}]})"));
  tmux.type("hello\n/compact\nremember\n/quit\n");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 0);
  EXPECT_THAT(tmux.history(), HasSubstr("Compacted: a summary stands for the first 2 messages."));
  EXPECT_THAT(tmux.history(), HasSubstr("I know."));
}

TEST_F(TerminalRealTime, TheEndOfPlainInputLeavesWhatWaitsForAnAnswer) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},{"text":"never"}]}]})"));
  tmux.type("write\n");
  tmux.wait_for("answer:");
  tmux.key("C-d");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 130);
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

TEST_F(TerminalRealTime, APlainLineWithoutAnEndIsToldNotToBeTaken) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"never"}]}]})"));
  tmux.type("abc");
  tmux.key("C-d");
  tmux.key("C-d");
  tmux.wait_for("not taken, as no Enter followed it: abc");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 0);
}

TEST_F(TerminalRealTime, APasteOfSeveralLinesIsOneInput) {
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Thanks.","expect":{"contains":"two\nthree"}}]}]})"));
  tmux.paste("one\ntwo\nthree");
  tmux.wait_for("three");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("Thanks.")));
  tmux.key("Enter");
  tmux.wait_for("Thanks.");
}

TEST_F(TerminalRealTime, ANarrowerWindowIsDrawnAfresh) {
  chat(delegating("86400000"), {"--yes"});
  tmux.type("go");
  tmux.key("Enter");
  tmux.wait_for("half way");
  tmux.resize(40, 20);
  tmux.wait_until_gone("Tab: children");  // there is no room for it
  tmux.resize(100, 30);
  tmux.wait_for("Tab: children");
  const std::string screen = tmux.screen();
  EXPECT_EQ(screen.find("→ note: half way"), screen.rfind("→ note: half way")) << "drawn once:\n" << screen;
}

TEST_F(TerminalRealTime, EveryCommandOfTheChatAnswers) {
  chat(delegating("10"), {"--yes"});
  tmux.resize(100, 60);
  const auto enter = [this](std::string_view text, std::string_view answer) {
    tmux.type(text);
    tmux.key("Enter");
    tmux.wait_for(answer);
  };
  enter("/tree", "nothing has been said yet");
  enter("go", "Both have reported.");
  tmux.wait_until_gone("Ctrl-C cancels");
  enter("/tree", "sess_");
  enter("/sessions", "CHILDREN");
  enter("/model", "/model NAME chooses another");
  enter("/agents", "explore");
  enter("/cost", "  all" + std::string(21, ' ') + "in=");
  enter("/permissions", "Where no rule speaks");
  enter("/export", "/export needs a file's name");
  enter("/export chat.txt", "written to");
  EXPECT_THAT(contents(work() / "chat.txt"), HasSubstr("Both have *reported*."));
  enter("/resume", "there is no earlier session");
  enter("/tre", "[quick]");
  enter("/nothing", "there is no /nothing");
  enter("/exit", "Kept as sess_");
}

TEST_F(TerminalRealTime, APathIsCompletedAndWhatWasTypedIsRecalledInTheNextChat) {
  write(work() / "notes.txt", "x");
  const auto model =
      script(R"({"v":1,"sessions":[{"replies":[{"text":"Read.","expect":{"contains":"see @notes.txt"}}]}]})");
  chat(model);
  tmux.type("see @no");
  tmux.wait_for("@notes.txt");
  tmux.key("Tab");
  tmux.wait_for("❯ see @notes.txt");
  tmux.key("Enter");
  tmux.wait_for("Read.");
  chat(model);
  tmux.key("Up");
  tmux.wait_for("❯ see @notes.txt");
}

TEST_F(TerminalRealTime, ADumbTerminalWithoutUtf8IsSentNothingButPlainText) {
  open(delegating("300"), {}, {{"TERM", "dumb"}, {"LC_ALL", "C"}});
  tmux.wait_for(">");
  const auto bytes = root() / "streams/bytes";
  tmux.record(bytes);
  tmux.type("go\n");
  tmux.wait_for("answer:");
  tmux.type("y\n");
  tmux.wait_for("Both have reported.");
  tmux.type("/quit\n");
  tmux.wait_for("Kept as sess_");
  const std::string written = contents(bytes);
  EXPECT_THAT(written, HasSubstr("[quick]"));
  EXPECT_TRUE(std::ranges::all_of(written, [](char byte) {
    return (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\r' || byte == '\t';
  })) << written;
}

TEST_F(TerminalRealTime, HelpStandsInColumnsThatFitTheScreen) {
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})"));
  tmux.resize(90, 60);
  tmux.type("/help");
  tmux.key("Enter");
  tmux.wait_for("write this session's transcript to a file");
  EXPECT_THAT(tmux.screen(), HasSubstr("\n" + std::string(26, ' ') + "its parent go on, c cancels it"));
}

TEST_F(TerminalRealTime, AFirstRunSaysWhatWasFoundAndRehearses) {
  write(work() / "a.py", "# TODO: all of it\n");
  tmux.run(work(),
           {{"PATH", "/usr/bin:/bin"},
            {"HOME", (root() / "person").string()},
            {"DEPUTY_HOME", home().string()},
            {"LC_ALL", "C.UTF-8"},
            {"TERM", "screen"},
            {"OLLAMA_HOST", "127.0.0.1:1"}},
           {});
  tmux.wait_for("No model is set up here yet.");
  EXPECT_THAT(tmux.screen(), HasSubstr("ANTHROPIC_API_KEY"));
  tmux.type("what is unfinished?");
  tmux.key("Enter");
  tmux.wait_for("a.py");
}

}  // namespace
}  // namespace deputy
