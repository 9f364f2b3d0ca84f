// The chat itself on a real terminal: the line, its commands, compaction, the model, the first run.
#include <chrono>
#include <filesystem>

#include "terminal_test.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using ChatRealTime = TerminalTest;

TEST_F(ChatRealTime, WhatIsSaidOnLeavingGoesOnWithTheChat) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."},{"text":"Still here."}]}]})");
  chat(model);
  enter("hello", "Hello.");
  enter("/quit", "Kept as sess_");
  const std::string left = tmux.history();
  EXPECT_THAT(left, HasSubstr("--model"));
  const std::string id = left.substr(left.find("Kept as ") + 8, 22);
  EXPECT_THAT(left, HasSubstr("--resume " + id));

  chat("rehearsal");
  enter("/resume " + id, id + " needs the model");

  chat(model, {"chat", "--resume", id});
  tmux.wait_for("Hello.");
  enter("more", "Still here.");
  enter("/quit", "Kept as sess_");
  tmux.wait_until_ended();

  chat(model);
  enter("/resume " + id, "Still here.");
}

TEST_F(ChatRealTime, CtrlLClearsTheScreenAndWhatWasSaidStaysInTheScrollback) {
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."},{"text":"Still here."}]}]})"));
  enter("hi", "Hello.");
  tmux.wait_until_gone("Ctrl-C cancels");
  tmux.key("C-l");
  tmux.wait_until_gone("Hello.");
  tmux.wait_for("/help");
  EXPECT_THAT(tmux.screen(), testing::StartsWith("❯")) << "at the top";
  enter("more", "Still here.");
  const std::string all = tmux.history();
  for (const auto* once : {"❯ hi", "Hello.", "❯ more"}) {
    EXPECT_THAT(all, HasSubstr(once));
    EXPECT_EQ(all.find(once), all.rfind(once)) << once << " is there twice:\n" << all;
  }
}

TEST_F(ChatRealTime, WhatRunsElsewhereIsNotTakenUpAndTheChatStaysItsOwn) {
  const auto slow =
      script(R"({"v":1,"sessions":[{"replies":[{"first_byte_ms":86400000,"text":"never"}]}]})", "slow.json");
  const auto elsewhere = start({"run", "go", "--output", "stream-json", "--model", slow});
  const std::string begun = elsewhere->read_until("sess_");
  const std::string id = begun.substr(begun.find("sess_"), 22);
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."},{"text":"Still here."}]}]})"));
  enter("hello", "Hello.");
  tmux.wait_until_gone("Ctrl-C cancels");
  enter("/resume " + id, id + " is run by");
  enter("more", "Still here.");
}

TEST_F(ChatRealTime, CtrlCAtAnApprovalIsToldToBeThePersonsOwn) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},{"text":"never"}]}]})"));
  enter("write", "asks for approval");
  tmux.key("C-c");
  tmux.wait_for("Not run: the person stopped it");
  tmux.wait_for("cancelled");
  EXPECT_THAT(tmux.history(), Not(HasSubstr("nobody is there")));
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

TEST_F(ChatRealTime, WithoutAKeyAChatIsCompactedToo) {
  write(work() / "notes.txt", "a boat\n");
  chat("rehearsal");
  enter("Where is `gondola` used?", "Nothing found");
  tmux.wait_until_gone("Ctrl-C cancels");
  enter("/compact", "Compacted: a summary stands for the first");
  EXPECT_THAT(tmux.history(), HasSubstr("Compacting: the model sums up what was said"));
  tmux.wait_until_gone("Ctrl-C cancels");
  enter("/compact undo", "Compaction undone");
}

TEST_F(ChatRealTime, AChatIsCompactedAndThatUndone) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"text":"Nice to meet you."},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}}]}]})"));
  const auto say = [this](std::string_view text, std::string_view answer) {
    enter(text, answer);
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

TEST_F(ChatRealTime, AChatThatDoesNotFitIsCompactedAndGoesOn) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"text":"Nice to meet you."},
    {"text":"I was about to","error":{"kind":"context_exhausted"}},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}}]}]})"));
  enter("hello", "Nice to meet you.");
  tmux.wait_until_gone("Ctrl-C cancels");
  enter("remember", "Compacted: a summary stands for the first 4 messages.");
  tmux.wait_for("I know.");
}

TEST_F(ChatRealTime, WhatWasLeftIsResumedWithTheModelThatWasChosenLastAndNeedsNoOther) {
  const std::string begun = R"({"v":1,"sessions":[{"replies":[{"text":"unused"},
    {"text":"I begin.","calls":[{"name":"Note","arguments":{"content":"half way"}}]},)";
  const auto other = script(begun + R"({"first_byte_ms":86400000,"text":"never"}]}]})", "other.json");
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"I am the first."}]}]})"));
  enter("who?", "I am the first.");
  tmux.wait_until_gone("Ctrl-C cancels");
  enter("/model " + other, "from the next input on");
  enter("and now?", "I begin.");
  tmux.key("C-d");
  tmux.wait_for("Kept as sess_");
  tmux.wait_until_ended();
  std::filesystem::remove(root() / "script.json");
  script(begun + R"({"text":"I am the other."}]}]})", "other.json");
  const auto ran = deputy({"resume"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("I am the other."));
}

TEST_F(ChatRealTime, AnotherModelAnswersFromTheNextInputOn) {
  const auto other = script(
      R"({"v":1,"sessions":[{"replies":[{"text":"unused"},{"text":"I am the other."}]}]})", "other.json");
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"I am the first."}]}]})"));
  enter("who?", "I am the first.");
  enter("/model " + other, "from the next input on");
  enter("and now?", "I am the other.");
}

TEST_F(ChatRealTime, WhatIsOlderThanSevenDaysGoesWhenAChatBegins) {
  deputy({"sessions", "ls"});  // makes the state folder
  const auto report = home() / "reports/sess_1_reader/old.md";
  const auto fresh = home() / "reports/sess_1_reader/fresh.md";
  std::filesystem::create_directories(report.parent_path());
  for (const auto& file : {report, fresh}) write(file, "a report");
  std::filesystem::last_write_time(report,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::days(8));
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})"));
  enter("hello", "Hello.");
  enter("/quit", "Kept as sess_");
  EXPECT_FALSE(std::filesystem::exists(report));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

TEST_F(ChatRealTime, APasteOfSeveralLinesIsOneInput) {
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Thanks.","expect":{"contains":"two\nthree"}}]}]})"));
  tmux.paste("one\ntwo\nthree");
  tmux.wait_for("three");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("Thanks.")));
  tmux.key("Enter");
  tmux.wait_for("Thanks.");
}

TEST_F(ChatRealTime, EveryCommandOfTheChatAnswers) {
  chat(delegating("10"), {"--yes"});
  tmux.resize(100, 60);
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

TEST_F(ChatRealTime, APathIsCompletedAndWhatWasTypedIsRecalledInTheNextChat) {
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

TEST_F(ChatRealTime, HelpStandsInColumnsThatFitTheScreen) {
  chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})"));
  tmux.resize(90, 60);
  enter("/help", "write this session's transcript to a file");
  // The chat may have been told of its new size only afterwards.
  EXPECT_THAT(tmux.screen(), ::testing::ContainsRegex("\n {26}[a-z, ]*its parent go on, c"));
}

TEST_F(ChatRealTime, AFirstRunSaysWhatWasFoundAndRehearses) {
  write(work() / "a.py", "# TODO: all of it\n");
  open({}, {});
  tmux.wait_for("No model is set up here yet.");
  EXPECT_THAT(tmux.screen(), HasSubstr("ANTHROPIC_API_KEY"));
  enter("what is unfinished?", "a.py");
}

}  // namespace
}  // namespace deputy
