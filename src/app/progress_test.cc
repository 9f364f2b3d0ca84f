#include "app/progress.h"

#include <gmock/gmock.h>
#include <sys/ioctl.h>

#include <latch>
#include <thread>

#include "async/sim_loop.h"
#include "support/pseudo_terminal.h"
#include "tui/live_region.h"

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

// What another process saw is no news: in lines nothing is told of it, in a tree it stands.
TEST_P(ProgressOnAStoppedTerminal, ShowsWhatWasBeforeItAndTellsNothingOfItAgain) {
  const auto event_of = [](const std::string& id, Fact fact) {
    Event event;
    event.run.session = SessionId(id);
    event.fact = std::move(fact);
    return event;
  };
  const EventOrigin twin{SessionId("root"), "twin", "reader"};
  progress_.on_past_event(event_of("first", RunStarted{}), twin);
  progress_.on_past_event(event_of("first", NoteTaken{"half way"}), twin);
  loop_.run_until_idle();
  const bool is_live = GetParam() == ProgressForm::live;
  progress_.on_event(event_of("second", RunStarted{}), twin);
  const std::string text = shown();
  EXPECT_EQ(text.contains("[twin] "), is_live) << text;
  EXPECT_EQ(text.contains("note: half way"), is_live) << text;
  EXPECT_THAT(text, HasSubstr("[twin (2)]")) << "it is told apart from one of before";
}

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
  EXPECT_THAT(text.substr(0, shell), ::testing::EndsWith("\x1b[1A\r" + std::string(kEraseFromHere)))
      << "erased";
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

TEST_P(FramesOnAStoppedTerminal, AreWholeBeforeAShellHasTheScreen) {
  terminal_.make_raw();
  err_.offer(std::string(200'000, 'x'));
  ASSERT_TRUE(err_.is_behind()) << "control: more than it takes at once";
  err_.offer("the end");
  std::latch reads(1);
  std::thread reader([&] {
    reads.count_down();
    terminal_.read_until("the end");
  });
  reads.wait();
  progress_.step_aside();
  EXPECT_FALSE(err_.is_behind());
  err_.write({});
  reader.join();
}

void make_wide(const PseudoTerminal& terminal, unsigned short columns) {
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(terminal.program(), TIOCSWINSZ, &size), 0);
}

// It has wrapped the line, of more than twice its columns, and the frame begins where that does.
TEST_P(FramesOnAStoppedTerminal, AreDrawnOverAsAWindowShowsThemThatBecameNarrower) {
  make_wide(terminal_, 80);
  start_child(std::string(60, 'a'));
  make_wide(terminal_, 20);
  start_child("b");
  make_wide(terminal_, 80);
  start_child("c");
  const std::string text = shown();
  const std::size_t second = text.find("\x1b[?7l", 1);
  ASSERT_NE(second, std::string::npos) << text;
  const std::size_t third = text.find("\x1b[?7l", second + 1);
  ASSERT_NE(third, std::string::npos) << text;
  const std::string narrow = text.substr(second, third - second);
  EXPECT_THAT(narrow, HasSubstr("\x1b[3A")) << text.substr(0, second);
  EXPECT_THAT(narrow, HasSubstr("\x1b[J")) << "what was wrapped is gone";
  EXPECT_THAT(text.substr(third), HasSubstr("\x1b[2A")) << "as many rows as lines where it is wider";
}

INSTANTIATE_TEST_SUITE_P(Live, FramesOnAStoppedTerminal, ::testing::Values(ProgressForm::live));

}  // namespace
}  // namespace deputy
