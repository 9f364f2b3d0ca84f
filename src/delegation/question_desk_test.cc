#include "delegation/question_desk.h"

#include <gtest/gtest.h>

#include "async/sim_loop.h"
#include "support/run.h"

namespace deputy {
namespace {

TEST(AnswerFrom, YesAndNoInAnyCase) {
  EXPECT_EQ(answer_from("y\n")->kind, AnswerKind::approved);
  EXPECT_EQ(answer_from(" YES ")->kind, AnswerKind::approved);
  EXPECT_EQ(answer_from("n")->kind, AnswerKind::refused);
  EXPECT_EQ(answer_from("No\n")->text, "");
}

TEST(AnswerFrom, AReasonMayFollowNo) {
  EXPECT_EQ(*answer_from("n too many children\n"), (Answer{AnswerKind::refused, "too many children"}));
  EXPECT_EQ(*answer_from("no, use one"), (Answer{AnswerKind::refused, "use one"}));
}

TEST(AnswerFrom, AnythingElseIsNoAnswer) {
  for (const auto* line : {"", "\n", "yep", "yes but not that one", "nope", "sure", "ye s"}) {
    EXPECT_EQ(answer_from(line), std::nullopt) << line;
  }
}

Answer answer_when_stopped(StopReason reason) {
  SimLoop loop(1);
  QuestionDesk desk(Attendance::person);
  StopSource stop;
  loop.timers().call_at(loop.clock().now() + std::chrono::seconds(1),
                        [&stop, reason] { stop.request(reason); });
  return run(loop, desk.ask({.id = "q", .text = "Run ls"}, stop.token()));
}

TEST(AQuestionThatIsStopped, SaysWhetherItWasThePerson) {
  EXPECT_EQ(answer_when_stopped(StopReason::user).kind, AnswerKind::nobody);
  EXPECT_EQ(answer_when_stopped(StopReason::user).text, "the person stopped it instead of answering");
  EXPECT_EQ(answer_when_stopped(StopReason::deadline).text, "it was stopped before there was an answer");
}

TEST(AnswerInWords, ToAPermissionOnlyYesApproves) {
  const Question permission{.kind = QuestionKind::permission};
  EXPECT_EQ(answer_in_words(permission, "yes"), (Answer{AnswerKind::approved, "", Source::person}));
  EXPECT_EQ(answer_in_words(permission, "no, use one"),
            (Answer{AnswerKind::refused, "use one", Source::person}));
  EXPECT_EQ(answer_in_words(permission, "yes please"),
            (Answer{AnswerKind::refused, "yes please", Source::person}));
}

TEST(AnswerInWords, ToAnyOtherQuestionItIsWhatWasWritten) {
  EXPECT_EQ(answer_in_words({.kind = QuestionKind::to_person}, "yes"),
            (Answer{AnswerKind::text, "yes", Source::person}));
}

}  // namespace
}  // namespace deputy
