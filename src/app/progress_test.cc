#include "app/progress.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "support/pseudo_terminal.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgressOnAStoppedTerminal : public ::testing::TestWithParam<ProgressForm> {
 protected:
  void start_child(const std::string& label) {
    Event event;
    event.run.session = SessionId(label);
    event.fact = RunStarted{};
    progress_.on_event(event, {SessionId("root"), label, "reader"});
    // As much as there is to do within a few tries: they end only when the terminal takes something.
    int left = 10;
    loop_.run_until([&left] { return left-- == 0; });
  }
  std::string shown() {
    terminal_.go_on();
    loop_.run_until_idle();
    err_.write("the end");
    return terminal_.read_until("the end");
  }

  PseudoTerminal terminal_;
  SimLoop loop_{1};
  OutStream err_{terminal_.program()};
  Redactor redactor_;
  Progress progress_{{.loop = loop_, .err = err_, .redactor = redactor_, .form = GetParam()}};
};

TEST_P(ProgressOnAStoppedTerminal, HoldsNobodyUpAndTellsAllOnceItGoesOn) {
  terminal_.stop();
  for (const std::string label : {"first", "second", "third"}) start_child(label);
  EXPECT_TRUE(err_.is_behind()) << "control: it took nothing";
  progress_.say("a word");
  EXPECT_THAT(shown(),
              AllOf(HasSubstr("[first]"), HasSubstr("[second]"), HasSubstr("[third]"), HasSubstr("a word")));
  EXPECT_FALSE(err_.is_behind());
}

INSTANTIATE_TEST_SUITE_P(InBothForms, ProgressOnAStoppedTerminal,
                         ::testing::Values(ProgressForm::live, ProgressForm::lines));

class FramesOnAStoppedTerminal : public ProgressOnAStoppedTerminal {};

// The one that it had begun with, and how things stand.
TEST_P(FramesOnAStoppedTerminal, AreTwoHoweverMuchHappened) {
  terminal_.stop();
  for (int child = 0; child < 10; ++child) start_child(std::to_string(child));
  const std::string text = shown();
  std::size_t frames = 0;
  constexpr std::string_view kBegin = "\x1b[?7l";
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) ++frames;
  EXPECT_EQ(frames, 2U) << text;
  EXPECT_THAT(text, HasSubstr("[9]"));
}

constexpr std::string_view kUpOneLine = "\x1b[1A";

TEST_P(FramesOnAStoppedTerminal, LeaveTheScreenToAShellAndStandBelowWhatItWrote) {
  start_child("first");
  progress_.step_aside();
  err_.write("$ fg\n");
  progress_.come_back();
  const std::string text = shown();
  const std::size_t shell = text.find("$ fg");
  ASSERT_NE(shell, std::string::npos);
  EXPECT_THAT(text.substr(0, shell), ::testing::EndsWith("\x1b[1A\r\x1b[J")) << "erased";
  EXPECT_THAT(text.substr(shell), AllOf(HasSubstr("[first]"), Not(HasSubstr(kUpOneLine))));
}

// As where it was stopped in a way that nobody is told of.
TEST_P(FramesOnAStoppedTerminal, StandBelowWhatAShellWroteUnheralded) {
  start_child("first");
  err_.write("$ fg\n");
  progress_.come_back();
  const std::string text = shown();
  const std::size_t shell = text.find("$ fg");
  ASSERT_NE(shell, std::string::npos);
  EXPECT_THAT(text.substr(0, shell), HasSubstr("[first]")) << "control";
  EXPECT_THAT(text.substr(shell), AllOf(HasSubstr("[first]"), Not(HasSubstr(kUpOneLine))));
}

INSTANTIATE_TEST_SUITE_P(Live, FramesOnAStoppedTerminal, ::testing::Values(ProgressForm::live));

}  // namespace
}  // namespace deputy
