// Ctrl-Z, fg and bg on a real terminal while a question is open: what is typed for a shell answers nothing.
#include <filesystem>

#include "terminal_test.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoppedAtAQuestionRealTime : public TerminalTest {
 protected:
  std::string writing() const {
    return script(R"({"v":1,"sessions":[{"replies":[
      {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},{"text":"All done."}]}]})");
  }
  void open_shell_and_chat(const std::string& more = "") {
    open_shell();
    enter("deputy chat " + more + " --model " + writing());
    tmux.wait_for(more.empty() ? "❯" : "\n>");
    enter("write");
  }
  bool is_written() const { return std::filesystem::exists(work() / "a.txt"); }
};

// What follows Ctrl-Z at once is meant for the shell, and so is what is typed before the chat is back.
TEST_F(StoppedAtAQuestionRealTime, AChatTakesNoKeyForAnApprovalThatWasMeantForTheShell) {
  open_shell_and_chat();
  tmux.wait_for("(y)");
  tmux.type("\x1asy");
  tmux.wait_for("Stopped");
  tmux.key("C-u");  // where some of it came to the shell after all
  enter("clear");
  tmux.wait_until_gone("Stopped");
  tmux.type("fg\nyys");
  tmux.wait_for("asks for approval");
  EXPECT_FALSE(is_written());
  tmux.key("C-c");
  tmux.wait_for("cancelled");
  EXPECT_FALSE(is_written());
}

TEST_F(StoppedAtAQuestionRealTime, AChatShowsItAgainAndTakesItsAnswer) {
  open_shell_and_chat();
  tmux.wait_for("(y)");
  tmux.key("C-z");
  tmux.wait_for("Stopped");
  enter("clear");
  tmux.wait_until_gone("Stopped");
  enter("fg", "(n)");
  tmux.key("n");
  tmux.wait_for("reason:");
  tmux.key("Enter");
  tmux.wait_for("All done.");
  EXPECT_FALSE(is_written());
}

TEST_F(StoppedAtAQuestionRealTime, ARunShowsItAgainAndIsCancelledAlsoAfterTheBackground) {
  open_shell();
  enter("deputy run write --model " + writing(), "[y]es / [n]o");
  tmux.key("C-z");
  tmux.wait_for("Stopped");
  enter("clear");
  tmux.wait_until_gone("Stopped");
  enter("bg", "&");
  enter("echo by the $((1 + 1))nd", "by the 2nd");  // which it must not read, nor wait for
  enter("fg", "[y]es / [n]o");
  EXPECT_FALSE(is_written());
  tmux.key("C-c");
  tmux.wait_for("cancelling");
  enter("echo by the $((2 + 1))rd", "by the 3rd");
  EXPECT_FALSE(is_written());
}

TEST_F(StoppedAtAQuestionRealTime, ARunInTheBackgroundAsksOnALineOfItsOwnOnceItIsInFront) {
  open_shell();
  enter("deputy run write --model " + writing() + " &", "[y]es / [n]o");
  enter("clear");
  tmux.wait_until_gone("[y]es / [n]o");
  enter("fg", "[y]es / [n]o");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("if you like: [main]")));
  enter("n", "All done.");
  EXPECT_FALSE(is_written());
}

TEST_F(StoppedAtAQuestionRealTime, ARunWhoseTerminalIsClosedIsAskedAgainByItsResume) {
  open({"run", "write", "--model", writing()}, {});
  tmux.wait_for("[y]es / [n]o");
  tmux.hang_up();
  open({"resume"}, {});
  tmux.wait_for("[y]es / [n]o");
  enter("y", "All done.");
  EXPECT_TRUE(is_written());
}

TEST_F(StoppedAtAQuestionRealTime, TheShellHasATerminalThatWaitsForItsReaders) {
  open_shell_and_chat("--plain");
  tmux.wait_for("answer:");
  tmux.key("C-z");
  tmux.wait_for("Stopped");
  enter("echo by the $((1 + 1))nd; cat", "by the 2nd");
  enter("as typed", "as typed\nas typed");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("unavailable")));
}

// The shell waits for the script, and the script for the chat.
TEST_F(StoppedAtAQuestionRealTime, CtrlZStopsAlsoTheScriptThatRunsTheChat) {
  open_shell();
  enter("sh -c 'deputy chat --model " + writing() + "; true'", "❯");
  tmux.key("C-z");
  tmux.wait_for("Stopped");
  enter("echo by the $((1 + 1))nd", "by the 2nd");
  enter("fg", "❯");
}

}  // namespace
}  // namespace deputy
