#include "app/progress.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <latch>
#include <thread>

#include "async/sim_loop.h"
#include "support/pseudo_terminal.h"
#include "tui/live_region.h"
#include "tui/screen.h"

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
  EXPECT_THAT(text.substr(0, shell),
              ::testing::EndsWith(std::string(kUpOneLine) + std::string(kEraseFromHere)))
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
  progress_.resize();  // nothing else has happened
  const std::string text = shown();
  const std::size_t second = text.find("\x1b[3A");
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_THAT(text.substr(second), HasSubstr("\x1b[J")) << "what was wrapped is gone";
  EXPECT_THAT(text.substr(second), HasSubstr("[aaaa"));
}

TEST_P(FramesOnAStoppedTerminal, StandOnceBelowWhatWasSaid) {
  start_child("first");
  progress_.say("deputy: a word");
  start_child("second");
  progress_.finish();
  Screen screen({80, 24});
  screen.feed(shown());
  EXPECT_THAT(screen.rows(), ::testing::ElementsAre("deputy: a word", HasSubstr("[first] "),
                                                    HasSubstr("[second] "), "the end"));
}

TEST_P(FramesOnAStoppedTerminal, AreGoneWhereAQuestionIsAsked) {
  start_child("first");
  progress_.pause();
  err_.write("may I? y\n");
  progress_.say("deputy: a word");
  progress_.go_on();
  Screen screen({80, 24});
  screen.feed(shown());
  EXPECT_THAT(screen.rows(),
              ::testing::ElementsAre("may I? y", "deputy: a word", HasSubstr("[first] "), "the end"));
}

INSTANTIATE_TEST_SUITE_P(Live, FramesOnAStoppedTerminal, ::testing::Values(ProgressForm::live));

// Somebody types while a tree runs.
class KeysMeanwhile : public ::testing::Test {
 protected:
  bool are_shown() const {
    termios mode{};
    EXPECT_EQ(::tcgetattr(terminal_.program(), &mode), 0);
    EXPECT_TRUE(mode.c_lflag & ISIG) << "Ctrl-C is a signal";
    EXPECT_TRUE(mode.c_lflag & ICANON) << "lines are edited as ever";
    return (mode.c_lflag & ECHO) != 0;
  }
  void start_child(Progress& progress, const std::string& label) {
    Event event;
    event.run.session = SessionId(label);
    event.fact = RunStarted{};
    progress.on_event(event, {SessionId("root"), label, "reader"});
    loop_.run_until_idle();
  }
  Progress::Parts parts(ProgressForm form) {
    return {.loop = loop_, .err = err_, .redactor = redactor_, .form = form, .keys = terminal_.program()};
  }

  PseudoTerminal terminal_;
  SimLoop loop_{1};
  OutStream err_{terminal_.program()};
  Redactor redactor_;
};

TEST_F(KeysMeanwhile, AreNotShownInTheTree) {
  Progress progress(parts(ProgressForm::live));
  EXPECT_TRUE(are_shown()) << "control: nothing is drawn yet";
  start_child(progress, "first");
  EXPECT_FALSE(are_shown());
  terminal_.enter("\n\nabc\n");
  start_child(progress, "second");
  progress.finish();
  err_.write("the end");
  Screen screen({80, 24});
  screen.feed(terminal_.read_until("the end"));
  EXPECT_THAT(screen.rows(),
              ::testing::ElementsAre(HasSubstr("[first] "), HasSubstr("[second] "), "the end"));
}

TEST_F(KeysMeanwhile, AreShownWhereAQuestionIsAsked) {
  Progress progress(parts(ProgressForm::live));
  start_child(progress, "first");
  progress.pause();
  EXPECT_TRUE(are_shown());
  start_child(progress, "second");
  EXPECT_TRUE(are_shown()) << "what happens meanwhile changes nothing";
  progress.go_on();
  loop_.run_until_idle();
  EXPECT_FALSE(are_shown());
}

TEST_F(KeysMeanwhile, AreShownWhereAShellHasTheTerminal) {
  Progress progress(parts(ProgressForm::live));
  start_child(progress, "first");
  progress.step_aside();
  EXPECT_TRUE(are_shown());
  progress.come_back();
  loop_.run_until_idle();
  EXPECT_FALSE(are_shown());
}

// A shell puts the terminal into its own mode, of which nobody is told.
TEST_F(KeysMeanwhile, AreHiddenAgainAfterAStopThatCameUnheralded) {
  Progress progress(parts(ProgressForm::live));
  termios before{};
  ASSERT_EQ(::tcgetattr(terminal_.program(), &before), 0);
  start_child(progress, "first");
  ASSERT_EQ(::tcsetattr(terminal_.program(), TCSANOW, &before), 0);
  progress.come_back();
  loop_.run_until_idle();
  EXPECT_FALSE(are_shown());
}

TEST_F(KeysMeanwhile, AreShownOnceItIsOver) {
  Progress progress(parts(ProgressForm::live));
  start_child(progress, "first");
  progress.finish();
  EXPECT_TRUE(are_shown());
}

// As where a second Ctrl-C leaves before the next frame.
TEST_F(KeysMeanwhile, AreShownOnceItIsOverAlsoRightAfterItWentOn) {
  Progress progress(parts(ProgressForm::live));
  start_child(progress, "first");
  progress.come_back();
  progress.finish();
  EXPECT_TRUE(are_shown());
}

TEST_F(KeysMeanwhile, AreShownAlsoWhereItIsDestroyedEarly) {
  {
    Progress progress(parts(ProgressForm::live));
    start_child(progress, "first");
    ASSERT_FALSE(are_shown()) << "control";
  }
  EXPECT_TRUE(are_shown());
}

TEST_F(KeysMeanwhile, AreShownAlsoWhereTheProcessIsKilled) {
  const pid_t process = ::fork();
  if (process == 0) {
    Progress progress(parts(ProgressForm::live));
    start_child(progress, "first");
    if (!are_shown()) ::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_TRUE(are_shown());
}

TEST_F(KeysMeanwhile, AreAsTheyWereInLines) {
  Progress progress(parts(ProgressForm::lines));
  start_child(progress, "first");
  EXPECT_TRUE(are_shown());
}

}  // namespace
}  // namespace deputy
