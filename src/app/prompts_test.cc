#include "app/prompts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "async/task_group.h"
#include "support/run.h"

namespace deputy {
namespace {

TEST(QuestionText, ShowsExactlyWhatWillHappenAndWhoAsks) {
  const Question question{.label = "a\x1b", .text = "Spawn 2 subagents: [x] y"};
  EXPECT_EQ(question_text(question),
            "[a␛] Spawn 2 subagents: [x] y\n[y]es / [n]o, with a reason if you like: ");
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
  void type(std::string_view text) {
    EXPECT_EQ(::write(keys_[1], text.data(), text.size()), ssize_t(text.size()));
  }
  static Event asked(const std::string& id) {
    Event event;
    event.fact = QuestionAsked{{.id = id, .text = "may I?"}};
    return event;
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
  SystemLoop loop_;
  OutStream err_{screen_[1]};
  Redactor redactor_;
  Progress progress_{{.loop = loop_, .err = err_, .redactor = redactor_}};
  std::vector<std::pair<std::string, Answer>> answers_;
  Channel<bool> answered_;
  Prompts prompts_{{.loop = loop_,
                    .progress = progress_,
                    .err = err_,
                    .redactor = redactor_,
                    .input = keys_[0],
                    .reply = [this](const std::string& id, Answer answer) {
                      answers_.emplace_back(id, std::move(answer));
                      answered_.push(true);
                    }}};
};

TEST_F(PromptsTest, AsksAgainUntilItUnderstands) {
  prompts_.on_event(asked("q1"));
  type("hm\n");
  type("y\n");
  run(loop_, until(1));
  EXPECT_EQ(answers_[0].first, "q1");
}

TEST_F(PromptsTest, ALineTooManyAnswersNoLaterQuestion) {
  prompts_.on_event(asked("q1"));
  prompts_.on_event(asked("q2"));
  type("y\ny\n");  // read at once, so the second line is there before its question is
  run(loop_, until(1));
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(PromptsTest, TheEndOfInputIsARefusal) {
  prompts_.on_event(asked("q1"));
  ::close(std::exchange(keys_[1], ::dup(0)));
  run(loop_, until(1));
  EXPECT_EQ(answers_[0].second.kind, AnswerKind::refused);
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

}  // namespace
}  // namespace deputy
