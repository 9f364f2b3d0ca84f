#include "app/letters.h"

#include <gmock/gmock.h>

#include <chrono>
#include <utility>

#include "delegation/question_ids.h"
#include "store/memory_store.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const SessionId kRoot("sess_1_root");

Event event_with(Fact fact) {
  Event event;
  event.tree = kRoot;
  event.run = {kRoot, 1};
  event.fact = std::move(fact);
  return event;
}

Event asks(QuestionKind kind) { return event_with(QuestionAsked{{.id = "q", .kind = kind, .asker = kRoot}}); }

// A tree that another store holds, or is about to.
class Letters : public testing::Test {
 protected:
  Letters() {
    root_.id = root_.tree = kRoot;
    root_.state = SessionState::running;
    memory_->sessions[kRoot] = root_;
  }
  // The other takes the first letter, and has recorded this by then.
  void take_first(std::vector<Fact> recorded) {
    if (memory_->inbox.empty()) {
      program_.loop.timers().call_at(
          program_.loop.clock().now() + std::chrono::milliseconds(1),
          [this, recorded = std::move(recorded)]() mutable { take_first(std::move(recorded)); });
      return;
    }
    for (Fact& fact : recorded) memory_->journal.push_back(event_with(std::move(fact)));
    memory_->inbox.clear();
  }
  Ended leave(LetterKind kind) { return leave_letter(program_, store_, root_, kind, "be brief"); }

  MapEnvironment environment_;
  Program program_{{}, environment_, "deputy"};
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
  MemoryStore store_{program_.loop, memory_};
  MemoryStore other_{program_.loop, memory_};
  Session root_;
};

TEST_F(Letters, ANudgeIsDoneOnceItIsOnRecord) {
  ASSERT_TRUE(other_.claim(kRoot));
  take_first({Nudged{"letter_1", Source::person, "be brief"}});
  EXPECT_TRUE(leave(LetterKind::nudge));
}

TEST_F(Letters, ANudgeThatWasThrownAwayIsNotDone) {
  ASSERT_TRUE(other_.claim(kRoot));
  take_first({RunEnded{}});
  const auto ended = leave(LetterKind::nudge);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().error.message, HasSubstr("had ended before it was told"));
  EXPECT_EQ(ended.error().status, ExitStatus::failed);
}

TEST_F(Letters, AnAnswerAfterAnothersIsNotDone) {
  ASSERT_TRUE(other_.claim(kRoot));
  memory_->journal.push_back(asks(QuestionKind::to_person));
  take_first({QuestionAnswered{"q", {AnswerKind::text, "go on", Source::person}}});
  const auto ended = leave(LetterKind::answer);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().error.message, HasSubstr("was settled before it was told"));
}

TEST_F(Letters, AnAnswerIsDoneOnceItIsOnRecord) {
  ASSERT_TRUE(other_.claim(kRoot));
  memory_->journal.push_back(asks(QuestionKind::to_person));
  take_first({QuestionAnswered{"q", {AnswerKind::text, "be brief", Source::person}}});
  EXPECT_TRUE(leave(LetterKind::answer));
}

TEST_F(Letters, ASecondAnswerToOneQuestionIsNotLeftBesideTheFirst) {
  memory_->journal.push_back(asks(QuestionKind::to_person));
  ASSERT_TRUE(leave(LetterKind::answer));
  const auto ended = leave_letter(program_, store_, root_, LetterKind::answer, "take your time");
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().error.message, testing::EndsWith("already: be brief"));
  EXPECT_THAT(ended.error().error.advice, HasSubstr("deputy resume sess_1_root"));
  ASSERT_EQ(memory_->inbox.size(), 1u);
  EXPECT_EQ(memory_->inbox.front().text, "be brief");
  EXPECT_TRUE(leave(LetterKind::nudge)) << "a nudge may stand beside it";
}

TEST_F(Letters, AnAnswerToTheNextQuestionIsNoSecondOne) {
  memory_->inbox.push_back(
      {.id = 1, .tree = kRoot, .session = kRoot, .kind = LetterKind::answer, .question = "before"});
  memory_->journal.push_back(asks(QuestionKind::to_person));
  EXPECT_TRUE(leave(LetterKind::answer));
}

// As a resume under other limits leaves it.
TEST_F(Letters, ACallThatEndsWithoutAnAnswerAsksNothingAnyMore) {
  ASSERT_TRUE(other_.claim(kRoot));
  Event asked = event_with(QuestionAsked{{.id = question_id_of({{kRoot, 1}, 4, 2}), .asker = kRoot}});
  asked.step = 4;
  asked.call = 2;
  Event ended = asked;
  ended.fact = CallFinished{};
  Event of_another = ended;
  of_another.call = 1;
  EXPECT_EQ(open_questions({asked, of_another}).size(), 1u);
  EXPECT_TRUE(open_questions({asked, ended}).empty());
  memory_->journal = {asked, ended, asks(QuestionKind::to_person)};
  take_first({QuestionAnswered{"q", {AnswerKind::text, "be brief", Source::person}}});
  EXPECT_TRUE(leave(LetterKind::answer)) << "what it asks now is answered";
}

TEST_F(Letters, AnAnswerToACallThatEndsMeanwhileIsNotDone) {
  ASSERT_TRUE(other_.claim(kRoot));
  memory_->journal.push_back(event_with(QuestionAsked{
      {.id = question_id_of({{kRoot, 1}, 0, -1}), .kind = QuestionKind::to_person, .asker = kRoot}}));
  take_first({CallFinished{}});
  const auto ended = leave(LetterKind::answer);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().error.message, HasSubstr("was settled before it was told"));
}

// What `sessions tree`, `show` and `ls --live` tell of it.
TEST_F(Letters, WhatAnInterruptedSessionAsksThePersonIsTold) {
  const auto told = [this](const Session& session) {
    testing::internal::CaptureStderr();
    tell_questions(program_, store_, {session});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told(root_), "");
  memory_->journal.push_back(asks(QuestionKind::permission));
  EXPECT_EQ(told(root_), "") << "it runs: whether it waits is on record";
  root_.state = SessionState::interrupted;
  EXPECT_THAT(told(root_), HasSubstr("deputy sessions answer sess_1_root yes"));
  memory_->journal.back() = asks(QuestionKind::to_parent);
  EXPECT_THAT(told(root_), HasSubstr("deputy sessions answer sess_1_root TEXT"));
  root_.parent = SessionId("sess_1_lead");
  EXPECT_EQ(told(root_), "") << "that is for its parent to answer";
}

TEST_F(Letters, WhatHasItsAnswerDoesNotWaitForThePersonAnyMore) {
  root_.state = SessionState::interrupted;
  memory_->journal.push_back(asks(QuestionKind::to_person));
  memory_->inbox.push_back({.id = 1,
                            .tree = kRoot,
                            .session = kRoot,
                            .kind = LetterKind::answer,
                            .text = "the red one",
                            .question = "q"});
  testing::internal::CaptureStderr();
  tell_questions(program_, store_, {root_});
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("has its answer: the red one"));
  EXPECT_THAT(told, HasSubstr("resume sess_1_root"));
  EXPECT_THAT(told, testing::Not(HasSubstr("waits for you")));
}

TEST_F(Letters, WhoCanAnswerIsToldAQuestionOfUpToFourThousandCharactersWhole) {
  const auto told = [this](std::size_t characters) {
    return question_line(program_, {.id = "q", .asker = kRoot, .text = std::string(characters, 'x')});
  };
  constexpr auto kShow = "read all of it with `deputy sessions show sess_1_root`, then ";
  EXPECT_THAT(told(4096), AllOf(HasSubstr(std::string(4096, 'x')), Not(HasSubstr(kShow))));
  EXPECT_THAT(told(4097), AllOf(HasSubstr(" " + std::string(4095, 'x') + "…"), HasSubstr(kShow)));
}

// What `sessions show` tells of it.
TEST_F(Letters, WhatIsAskedIsToldWholeLineByLineToWhoLooksAtItsSession) {
  root_.state = SessionState::interrupted;
  const std::string prompt(5000, 'x');
  memory_->journal.push_back(event_with(QuestionAsked{{.id = "q",
                                                       .kind = QuestionKind::permission,
                                                       .asker = kRoot,
                                                       .label = "main",
                                                       .text = "Spawn it\n[a]\n  " + prompt}}));
  testing::internal::CaptureStderr();
  tell_questions(program_, store_, {root_}, QuestionForm::whole);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(testing::StartsWith("deputy: [main] waits for you:\n  Spawn it\n  [a]\n    " + prompt +
                                        "\ndeputy: approve with `"),
                    HasSubstr("sessions answer sess_1_root yes`")));
}

TEST_F(Letters, WhatAQuestionSuggestsIsToldWithIt) {
  root_.state = SessionState::interrupted;
  const Question question{.id = "q",
                          .kind = QuestionKind::to_person,
                          .asker = kRoot,
                          .label = "main",
                          .text = "Which?",
                          .suggestions = {"the red one", "the\nblue one\x1b[2J"}};
  EXPECT_THAT(question_line(program_, question), AllOf(HasSubstr("Which? - the red one - the blue one"),
                                                       HasSubstr("; answer with `"), Not(HasSubstr("\x1b"))));
  memory_->journal.push_back(event_with(QuestionAsked{question}));
  testing::internal::CaptureStderr();
  tell_questions(program_, store_, {root_}, QuestionForm::whole);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::StartsWith("deputy: [main] waits for you:\n  Which?\n  - the red one\n  - the blue one"));
}

TEST_F(Letters, ACancelTellsWhatItsSessionReallyEndedAs) {
  ASSERT_TRUE(other_.claim(kRoot));
  for (const auto& [ended_as, told] :
       {std::pair{SessionState::cancelled, "sess_1_root cancelled\n"},
        std::pair{SessionState::completed, "sess_1_root had ended already (completed)\n"},
        std::pair{SessionState::failed, "sess_1_root had ended already (failed)\n"}}) {
    memory_->sessions[kRoot].state = ended_as;  // after the command had looked
    take_first({RunEnded{}});
    testing::internal::CaptureStdout();
    const auto ended = leave(LetterKind::cancel);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), told);
    EXPECT_TRUE(ended);
  }
}

TEST_F(Letters, ACancelGoesToWhoClaimsTheTreeJustThen) {
  program_.loop.post([this] { EXPECT_TRUE(other_.claim(kRoot)); });
  take_first({});
  const auto ended = cancel_session(program_, store_, root_);
  EXPECT_TRUE(ended) << ended.error().error.message;
  EXPECT_EQ(memory_->letters_so_far, 1) << "it is theirs to end";
}

TEST(LetterOnRecord, AnAnswerIsThePersonsInItsOwnWords) {
  const auto is_told = [](QuestionKind kind, const std::string& text, Answer recorded) {
    const Letter letter{.session = kRoot, .kind = LetterKind::answer, .text = text, .question = "q"};
    return was_told(letter, {asks(kind), event_with(QuestionAnswered{"q", std::move(recorded)})});
  };
  EXPECT_TRUE(is_told(QuestionKind::to_parent, "red", {AnswerKind::text, "red", Source::person}));
  EXPECT_FALSE(is_told(QuestionKind::to_parent, "red", {AnswerKind::text, "red", Source::parent}));
  EXPECT_FALSE(is_told(QuestionKind::to_parent, "red", {AnswerKind::nobody, ""}));
  EXPECT_TRUE(is_told(QuestionKind::permission, "yes", {AnswerKind::approved, "", Source::person}));
  EXPECT_TRUE(is_told(QuestionKind::permission, "no, why?", {AnswerKind::refused, "why?", Source::person}));
  EXPECT_FALSE(is_told(QuestionKind::permission, "yes", {AnswerKind::refused, "", Source::person}));
}

}  // namespace
}  // namespace deputy
