#include "app/prompts.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

#include "async/task_group.h"
#include "async/waiter.h"
#include "base/text.h"
#include "support/pseudo_terminal.h"
#include "support/run.h"

namespace deputy {
namespace {

TEST(QuestionText, ShowsExactlyWhatWillHappenAndWhoAsks) {
  const Question question{.label = "a\x1b", .text = "Spawn 2 subagents: [x] y"};
  EXPECT_EQ(question_text(question),
            "[a␛] Spawn 2 subagents: [x] y\n[y]es / [n]o, with a reason if you like: ");
}

TEST(QuestionText, SpellsOutWhatATerminalCannotShow) {
  const Question question{.text = "rm naïve", .suggestions = {}};
  EXPECT_EQ(question_text(question, TerminalLetters::ascii),
            "rm na\\u{ef}ve\n[y]es / [n]o, with a reason if you like: ");
}

TEST(QuestionText, NumbersOnlyWhatANumberChooses) {
  Question question{.text = "may I?", .suggestions = {"Write(a.txt)"}};
  question.kind = QuestionKind::permission;
  EXPECT_EQ(question_text(question), "may I?\n[y]es / [n]o, with a reason if you like: ");
  question.kind = QuestionKind::to_person;
  EXPECT_EQ(question_text(question), "may I?\n  1. Write(a.txt)\nyour answer: ");
  EXPECT_EQ(words_from(question, "1")->text, "Write(a.txt)");
}

// Open while the test runs.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    for (const int each : ends) ::close(each);
  }
  int& operator[](int end) { return ends[end]; }
  int ends[2];
};

// The terminal is a pipe here; what is flushed on a terminal is not, so every line is written after its
// question.
class PromptsTest : public ::testing::Test {
 protected:
  PromptsTest() = default;
  // On a terminal in place of the pipes.
  explicit PromptsTest(const PseudoTerminal& terminal, TerminalLetters letters = TerminalLetters::unicode)
      : input_(terminal.program()), output_(terminal.program()), letters_(letters) {}
  void type(std::string_view text) {
    EXPECT_EQ(::write(keys_[1], text.data(), text.size()), ssize_t(text.size()));
  }
  static Event asked(const std::string& id) {
    Event event;
    event.fact = QuestionAsked{{.id = id, .text = "may I?"}};
    return event;
  }
  std::string screen() {
    std::string text(64 * 1024, ' ');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(screen_[0], text.data(), text.size()))));
    return text;
  }
  static Event settled(const std::string& id) {
    Event event;
    event.fact = QuestionAnswered{id, {}};
    return event;
  }
  // Runs until `count` answers were given.
  Task<> until(std::size_t count) {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    while (answers_.size() < count) co_await answered_.pop({});
    co_await group.stop(StopReason::shutdown);
  }

  Pipe keys_;
  Pipe screen_;
  int input_ = keys_[0];
  int output_ = screen_[1];
  TerminalLetters letters_ = TerminalLetters::unicode;
  SystemLoop loop_;
  OutStream out_{output_};
  OutStream err_{output_, left_out_line, letters_};
  Redactor redactor_;
  Progress progress_{{.loop = loop_, .err = err_, .redactor = redactor_}};
  std::vector<std::pair<std::string, Answer>> answers_;
  Channel<bool> answered_;
  Channel<bool> hung_up_;
  Prompts prompts_{{.loop = loop_,
                    .progress = progress_,
                    .out = out_,
                    .err = err_,
                    .redactor = redactor_,
                    .input = input_,
                    .reply =
                        [this](const std::string& id, Answer answer) {
                          answers_.emplace_back(id, std::move(answer));
                          answered_.push(true);
                        },
                    .hung_up = [this] { hung_up_.push(true); }}};
};

TEST_F(PromptsTest, AsksAgainUntilItUnderstands) {
  prompts_.on_event(asked("q1"));
  type("hm\n");
  type("y\n");
  run(loop_, until(1));
  EXPECT_EQ(answers_[0].first, "q1");
  EXPECT_THAT(screen(), ::testing::HasSubstr(
                            "that was no answer: type y for yes, or n for no (a reason may follow it)\n"
                            "[y]es / [n]o"));
}

TEST_F(PromptsTest, SayWhatWouldHaveBeenAnAnswerInWords) {
  Event event = asked("q1");
  auto& question = std::get<QuestionAsked>(event.fact).question;
  question.kind = QuestionKind::to_person;
  prompts_.on_event(event);
  type("\nred\n");
  run(loop_, until(1));
  EXPECT_EQ(answers_[0].second.text, "red");
  EXPECT_THAT(screen(), ::testing::HasSubstr("that was no answer: type it in words\nyour answer: "));
}

TEST_F(PromptsTest, ALineTooManyAnswersNoLaterQuestion) {
  prompts_.on_event(asked("q1"));
  prompts_.on_event(asked("q2"));
  type("y\ny\n");  // read at once, so the second line is there before its question is
  run(loop_, until(1));
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(PromptsTest, WhatWasSettledMeanwhileIsNotAsked) {
  prompts_.on_event(asked("q1"));
  prompts_.on_event(asked("q2"));
  prompts_.on_event(settled("q1"));
  type("n because\n");
  run(loop_, until(1));
  EXPECT_EQ(answers_[0].first, "q2");
  EXPECT_EQ(answers_[0].second.text, "because");
}

struct HasTerminal {
  PseudoTerminal terminal_;
};

class PromptsOnAStoppedTerminal : protected HasTerminal, public PromptsTest {
 protected:
  explicit PromptsOnAStoppedTerminal(TerminalLetters letters = TerminalLetters::unicode)
      : PromptsTest(terminal_, letters) {}
  Task<> turns(int count) {
    for (; count > 0; --count) {
      const Waiter<bool> turn;
      loop_.post([turn] { turn.resume(true); });
      co_await turn.wait();
    }
  }
  // Far more turns of the loop than there are in the time after which a terminal is tried again.
  Task<> until_behind(bool is_behind) {
    for (int left = 10'000; left > 0 && err_.is_behind() != is_behind; --left) co_await turns(100);
    EXPECT_EQ(err_.is_behind(), is_behind);
  }
  Task<> until_asked_again() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    EXPECT_GT(err_.taken(), 0U) << "control: it took the question";
    EXPECT_FALSE(err_.is_behind()) << "control: all of it";
    terminal_.stop();
    terminal_.type("hm\n");
    co_await until_behind(true);
    terminal_.go_on();
    co_await until_behind(false);
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_written() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_interrupted() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    prompts_.leave_line();
    err_.offer("cancelling\n");
    prompts_.on_event(settled("q1"));
    co_await turns(100);
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_shown_again() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    err_.offer("$ fg\n");
    prompts_.show_again();
    co_await group.stop(StopReason::shutdown);
    prompts_.show_again();
  }
  // With half of an answer that was typed before a shell had the terminal, and the rest of it for the shell.
  Task<> until_refused_after_a_shell() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    terminal_.make_raw();  // so that what is typed can be read before its line has an end
    terminal_.type("y");
    co_await turns(100);
    terminal_.type("\ny\n");
    prompts_.show_again();
    co_await turns(100);
    EXPECT_TRUE(answers_.empty());
    terminal_.type("n\n");
    while (answers_.empty()) co_await answered_.pop({});
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_hung_up() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    terminal_.hang_up();
    co_await hung_up_.pop({});
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_refused_after(std::string keys) {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    const std::uint64_t asked = err_.taken();
    terminal_.type(keys);
    for (int left = 10'000; left > 0 && err_.taken() <= asked + 1 && answers_.empty(); --left)
      co_await turns(100);
    terminal_.type("n later\n");
    while (answers_.empty()) co_await answered_.pop({});
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_shown_again_late() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await turns(100);
    terminal_.stop();
    progress_.come_back();
    prompts_.show_again();
    co_await until_behind(true);
    terminal_.go_on();
    co_await until_behind(false);
    co_await group.stop(StopReason::shutdown);
  }
  Task<> until_refused() {
    TaskGroup group(loop_);
    group.spawn(prompts_.run(group.token()));
    co_await until_behind(true);
    terminal_.type("y\n");
    co_await turns(100);
    terminal_.go_on();
    co_await until_behind(false);
    co_await turns(100);
    terminal_.type("n\n");
    while (answers_.empty()) co_await answered_.pop({});
    co_await group.stop(StopReason::shutdown);
  }
};

TEST_F(PromptsOnAStoppedTerminal, AskAgainOnceItGoesOn) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_asked_again());
  err_.write("the end");
  const std::string shown = terminal_.read_until("the end");
  EXPECT_NE(shown.find("[y]es / [n]o"), shown.rfind("[y]es / [n]o")) << shown;
}

TEST_F(PromptsOnAStoppedTerminal, ShowAQuestionAgainBelowWhatAShellWroteAndNoneThatIsSettled) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_shown_again());
  err_.write("the end");
  const std::string shown = terminal_.read_until("the end");
  const std::size_t shell = shown.find("$ fg");
  ASSERT_NE(shell, std::string::npos);
  EXPECT_LT(shown.find("may I?"), shell) << "control";
  EXPECT_GT(shown.find("may I?", shell), shell);
  EXPECT_EQ(shown.find("may I?", shell), shown.rfind("may I?")) << shown;
}

TEST_F(PromptsOnAStoppedTerminal, LeaveTheirLineOnceToWhatIsToldNext) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_interrupted());
  err_.write("the end");
  EXPECT_THAT(terminal_.read_until("the end"), ::testing::EndsWith("if you like: \r\ncancelling\r\nthe end"));
}

TEST_F(PromptsOnAStoppedTerminal, TakeNothingForAnAnswerThatWasTypedForAShell) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_refused_after_a_shell());
  EXPECT_EQ(answers_[0].second.kind, AnswerKind::refused);
}

TEST_F(PromptsOnAStoppedTerminal, AnswerNothingWhenTheTerminalHangsUp) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_hung_up());
  EXPECT_TRUE(answers_.empty());
}

TEST_F(PromptsOnAStoppedTerminal, AskAgainAfterCtrlDOnALineOfItsOwn) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_refused_after("\x04"));
  EXPECT_EQ(answers_[0].second.kind, AnswerKind::refused);
  EXPECT_EQ(answers_[0].second.text, "later") << "the person's own word";
  EXPECT_THAT(terminal_.read_until("that was no answer"),
              ::testing::HasSubstr("if you like: \r\nthat was no answer"));
}

TEST_F(PromptsOnAStoppedTerminal, TakeNothingForAnAnswerThatNoEnterFollowed) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_refused_after("y\x04\x04"));
  EXPECT_EQ(answers_[0].second.kind, AnswerKind::refused);
  EXPECT_EQ(answers_[0].second.text, "later");
}

TEST_F(PromptsOnAStoppedTerminal, ShowAQuestionAgainOnceTheTerminalTakesIt) {
  prompts_.on_event(asked("q1"));
  run(loop_, until_shown_again_late());
}

TEST_F(PromptsOnAStoppedTerminal, TakeNothingForAnAnswerThatWasTypedUnseen) {
  terminal_.stop();
  prompts_.on_event(asked("q1"));
  run(loop_, until_refused());
  EXPECT_EQ(answers_[0].second.kind, AnswerKind::refused);
  terminal_.read_until("may I?");
}

// Both stand on one terminal, where the events would be drawn over the question.
TEST_F(PromptsOnAStoppedTerminal, WaitForWhatIsOnStdoutToo) {
  terminal_.stop();
  out_.offer("an event\n");
  prompts_.on_event(asked("q1"));
  terminal_.go_on();
  run(loop_, until_written());
  EXPECT_THAT(terminal_.read_until("[y]es / [n]o"), ::testing::StartsWith("an event\r\n"));
}

TEST_F(PromptsOnAStoppedTerminal, BreakLinesAtSpacesAndNoSecretBeforeItIsTakenOut) {
  const std::string secret(100, 'k');
  redactor_.hide(secret);
  Event event = asked("q1");
  Question& question = std::get<QuestionAsked>(event.fact).question;
  question.kind = QuestionKind::to_person;
  for (int word = 0; word < 20; ++word) question.text += " unfinished";
  question.text += "\n" + secret;
  prompts_.on_event(event);
  run(loop_, until_written());
  const std::string shown = terminal_.read_until("your answer");
  EXPECT_THAT(shown, ::testing::Not(::testing::HasSubstr("kkkkkkkk")));
  EXPECT_THAT(shown, ::testing::HasSubstr("\r\n    unfinished"));
  for (const auto line : lines_of(shown)) EXPECT_LT(line.size(), 80U) << line;
}

TEST_F(PromptsOnAStoppedTerminal, BreakNoLineOfWhatIsApproved) {
  Event event = asked("q1");
  std::string& text = std::get<QuestionAsked>(event.fact).question.text;
  for (int word = 0; word < 20; ++word) text += " unfinished";
  prompts_.on_event(event);
  run(loop_, until_written());
  EXPECT_THAT(terminal_.read_until("[y]es / [n]o"), ::testing::HasSubstr(text));
}

class PromptsOnATerminalWithoutUtf8 : public PromptsOnAStoppedTerminal {
 protected:
  PromptsOnATerminalWithoutUtf8() : PromptsOnAStoppedTerminal(TerminalLetters::ascii) {}
};

TEST_F(PromptsOnATerminalWithoutUtf8, ShowExactlyWhatWillRun) {
  Event event = asked("q1");
  std::get<QuestionAsked>(event.fact).question.text = "rm naïve …";
  prompts_.on_event(event);
  run(loop_, until_written());
  EXPECT_THAT(terminal_.read_until("[y]es / [n]o"), ::testing::StartsWith("rm na\\u{ef}ve \\u{2026}\r\n"));
}

}  // namespace
}  // namespace deputy
