// What a run meets at its limits: the grace step, repetition, how much it may hold; all as a fold over
// events.

#include <gmock/gmock.h>

#include "agent/a_run.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

TEST_F(ARun, AtItsStepLimitHasOneGraceStepAndItsReportIsPartial) {
  limits.max_turns = 1;
  reads("a", "1");
  EXPECT_EQ(is_told(), Reason::max_turns);
  EXPECT_TRUE(asks());
  completes(kGood);
  EXPECT_EQ(finish().status, Status::partial);
  EXPECT_EQ(finish().reason, Reason::max_turns);
  EXPECT_EQ(report().body, "the whole story");
  EXPECT_EQ(report().errors.front().type, "max_turns");
}

TEST_F(ARun, HasNoSecondGraceStep) {
  limits.max_turns = 1;
  reads("a", "1");
  EXPECT_EQ(is_told(), Reason::max_turns);
  reads("b", "2");
  EXPECT_EQ(finish().reason, Reason::max_turns);
}

TEST_F(ARun, AtItsDeadlineHasOneGraceStepAndPendingCallsAreClosedBeforeIt) {
  reply(ReplyStop::calls, "", {{"1", "Read", "{}"}});
  EXPECT_EQ(is_told(StopReason::deadline), Reason::timeout);
  EXPECT_TRUE(std::holds_alternative<RunCalls>(next()));
  apply_fact(CallFinished{{"1", ToolStatus::error, "Not run"}}, 0);
  ASSERT_EQ(conversation.messages.size(), 3u);
  EXPECT_EQ(conversation.messages[1].role, Role::tool) << "a result follows its call at once";
  EXPECT_EQ(conversation.messages[2].source, Source::runtime);
  EXPECT_TRUE(asks());
  says("as far as I got");
  EXPECT_EQ(finish().status, Status::partial);
  EXPECT_EQ(finish().reason, Reason::timeout);
  EXPECT_THAT(report().errors.front().recommendation, HasSubstr("resume sess_1_aaaaaa"));
}

TEST_F(ARun, WhoseGraceTimeIsUpTooKeepsWhatThereIs) {
  apply_fact(NoteTaken{"a finding"});
  EXPECT_EQ(is_told(StopReason::deadline), Reason::timeout);
  EXPECT_EQ(finish(StopReason::deadline).reason, Reason::timeout);
  EXPECT_EQ(report_of(conversation, session, finish(StopReason::deadline), {}).body, "a finding");
}

TEST_F(ARun, OverBudgetHasOneGraceStep) {
  reply(ReplyStop::over_budget, "");
  EXPECT_EQ(conversation.run_steps, 0) << "nothing was asked";
  EXPECT_EQ(is_told(), Reason::budget);
  EXPECT_TRUE(asks());
  reply(ReplyStop::over_budget, "");
  EXPECT_EQ(finish().status, Status::partial);
  EXPECT_EQ(finish().reason, Reason::budget);
}

TEST_F(ARun, AtContextExhaustionHasNoGraceStep) {
  reply(ReplyStop::context_exhausted, "");
  EXPECT_EQ(finish().reason, Reason::context_exhausted);
}

TEST_F(ARun, ThatNobodyDelegatedHasNoGraceStep) {
  limits.is_delegated = false;
  EXPECT_EQ(finish(StopReason::deadline).reason, Reason::timeout);
}

TEST_F(ARun, CancelledInItsGraceStepIsCancelled) {
  EXPECT_EQ(is_told(StopReason::deadline), Reason::timeout);
  EXPECT_EQ(finish(StopReason::user).reason, Reason::cancelled_by_user);
}

TEST_F(ARun, WithAReportInHandIsNotPartialForADeadlineThatPassesThen) {
  completes(kGood);
  EXPECT_EQ(finish(StopReason::deadline), Finish{});
}

TEST_F(ARun, MayMakeTheSameCallTwice) {
  for (int i = 0; i < 2; ++i) reads("a", "1");
  EXPECT_TRUE(asks());
}

TEST_F(ARun, IsWarnedAtTheThirdAndTheFourthSameCallAndEndedAtTheFifth) {
  for (int i = 0; i < 3; ++i) reads("a", "1");
  EXPECT_EQ(is_told(), Reason::repetition);
  EXPECT_TRUE(asks()) << "it is told once";
  reads("a", "1");
  EXPECT_EQ(is_told(), Reason::repetition);
  EXPECT_TRUE(asks());
  reads("a", "1");
  EXPECT_EQ(finish().status, Status::partial);
  EXPECT_EQ(finish().reason, Reason::repetition);
}

TEST_F(ARun, IsNotWarnedWhereCallOrResultDiffers) {
  for (const auto* path : {"a", "a", "b", "b", "a", "a"}) {
    reads(path, "1");
    EXPECT_TRUE(asks());
  }
  for (const auto* content : {"2", "3", "4", "5", "6"}) {
    reads("a", content);
    EXPECT_TRUE(asks());
  }
}

TEST_F(ARun, IsWarnedAtTheThirdRoundOfTheSameTwoCallsAndEndedAtTheFifth) {
  const auto round = [this] {
    reads("a", "1");
    EXPECT_TRUE(asks());
    reads("b", "2");
  };
  for (int i = 0; i < 2; ++i) {
    round();
    EXPECT_TRUE(asks());
  }
  for (int i = 0; i < 2; ++i) {
    round();
    EXPECT_EQ(is_told(), Reason::repetition);
  }
  round();
  EXPECT_EQ(finish().reason, Reason::repetition);
}

TEST_F(ARun, IsNotWarnedOfTwoCallsInTurnWhereOneOfThemBringsNews) {
  for (int i = 0; i < 10; ++i) {
    reads("a", "1");
    reads("b", std::to_string(i));
    EXPECT_TRUE(asks());
  }
}

TEST_F(ARun, CountsTheSameCallsOfOneReplyToo) {
  std::vector<Call> same(5, Call{"1", "Read", "{}"});
  reply(ReplyStop::calls, "", same);
  for (int i = 4; i >= 0; --i) apply_fact(CallFinished{{"1", ToolStatus::ok, "x"}}, i);
  EXPECT_EQ(finish().reason, Reason::repetition);
}

TEST_F(ARun, CountsOnAfterAResume) {
  for (int i = 0; i < 3; ++i) reads("a", "1");
  EXPECT_EQ(is_told(), Reason::repetition);
  reads("a", "1");
  conversation = conversation_of(events);  // another process
  EXPECT_EQ(is_told(), Reason::repetition);
  conversation = conversation_of(events);
  reads("a", "1");
  EXPECT_EQ(finish().reason, Reason::repetition);
}

TEST_F(ARun, HoldsAsManyMessagesAsItMayAndNotOneMore) {
  reads("a", "1");
  reads("b", "2");
  limits.max_messages = 4;
  EXPECT_TRUE(asks());
  limits.max_messages = 3;
  EXPECT_EQ(finish().status, Status::partial);
  EXPECT_EQ(finish().reason, Reason::context_exhausted);
}

TEST_F(ARun, HoldsAsManyTokensAsItMayAndNotOneMore) {
  Reply counted;
  counted.stop = ReplyStop::paused;
  counted.usage.input = 1000;
  apply_fact(ReplyReceived{counted});
  limits.max_context_tokens = 1000;
  EXPECT_TRUE(asks());
  limits.max_context_tokens = 999;
  EXPECT_EQ(finish().reason, Reason::context_exhausted);
}

TEST_F(ARun, IsCompactedOneTokenAboveWhatItMayHoldAndNotBefore) {
  reads("a", "1");
  Reply counted;
  counted.stop = ReplyStop::finished;
  counted.message = {.role = Role::assistant};
  counted.usage.input = 1000;
  apply_fact(ReplyReceived{counted});
  conversation.last_reply.reset();
  limits.compact_above = 1000;
  EXPECT_TRUE(asks());
  limits.compact_above = 999;
  EXPECT_TRUE(std::holds_alternative<Compact>(decide(conversation, limits, StopReason::none)));
  conversation.stays_whole = true;
  EXPECT_TRUE(asks()) << "the person has undone one";
}

TEST_F(ARun, IsCompactedWhereTheProviderSaysThatItDoesNotFit) {
  const auto is_compacted = [this] { return std::holds_alternative<Compact>(next()); };
  const auto sums_up = [this](std::string summary) {
    Compacted fact{.messages = *compactable(conversation)};
    fact.reply.message = {.role = Role::assistant, .text = std::move(summary)};
    apply_fact(fact);
  };
  reads("a", "1");
  reply(ReplyStop::context_exhausted, "");
  EXPECT_EQ(finish().reason, Reason::context_exhausted) << "one that is never compacted";
  limits.compact_above = 1'000'000;
  EXPECT_TRUE(is_compacted());
  conversation.stays_whole = true;
  EXPECT_EQ(finish().reason, Reason::context_exhausted) << "the person has undone one";
  conversation.stays_whole = false;

  sums_up("it is about a");
  EXPECT_TRUE(asks()) << "what did not fit is asked again";
  conversation = conversation_of(events);
  EXPECT_TRUE(asks()) << "by another process too";
  reply(ReplyStop::context_exhausted, "half of an answer");
  EXPECT_EQ(finish().reason, Reason::context_exhausted) << "another summary would not help";
}

TEST_F(ARun, IsCompactedAgainOnceTheModelHasRepliedBehindASummary) {
  limits.compact_above = 1'000'000;
  reads("a", "1");
  Compacted fact{.messages = *compactable(conversation)};
  fact.reply.message = {.role = Role::assistant, .text = "it is about a"};
  apply_fact(fact);
  reads("b", "2");
  reply(ReplyStop::context_exhausted, "");
  EXPECT_TRUE(std::holds_alternative<Compact>(next()));
  fact.reply.message.text = "";
  fact.messages = *compactable(conversation);
  apply_fact(fact);
  EXPECT_EQ(finish().reason, Reason::context_exhausted) << "there is no summary";
}

TEST_F(ARun, IsAskedToKeepTheIdsThatItNeedsToGoOn) {
  for (const char* what : {"letter by letter", "subagents", "background commands", "questions"})
    EXPECT_THAT(wish_for_summary().text, testing::HasSubstr(what));
}

// A provider counts system prompt and tools with the messages: by its count of a short input in a large frame
// text would otherwise be taken for twice what it is.
TEST_F(ARun, WeighsWhatIsNewByTheMeasureOfTheWholeRequest) {
  std::string words;
  for (int i = 0; i < 10'000; ++i) words += "word ";
  apply_fact(InputGiven{Source::person, "read it"});
  reads("a", words);
  conversation.measured = Measured{.messages = 1, .tokens = 5100};
  limits.prefix_tokens = 5000;
  limits.compact_above = 26'600;
  limits.max_context_tokens = 26'600;
  EXPECT_TRUE(asks());
  limits.compact_above = 15'000;
  EXPECT_TRUE(std::holds_alternative<Compact>(next()));
  conversation.stays_whole = true;
  EXPECT_TRUE(asks());
  limits.max_context_tokens = 15'000;
  EXPECT_EQ(finish().reason, Reason::context_exhausted);
}

TEST_F(ARun, CountsSystemPromptAndToolsBeforeAProviderHas) {
  reads("a", "1");
  limits.max_context_tokens = 5000;
  limits.prefix_tokens = 4000;
  EXPECT_TRUE(asks());
  limits.prefix_tokens = 5000;
  EXPECT_EQ(finish().reason, Reason::context_exhausted);
}

TEST_F(ARun, WithNothingButItsInputIsNotCompactedHoweverLongThatIs) {
  apply_fact(InputGiven{Source::person, "all of this"});
  limits.compact_above = 0;
  EXPECT_TRUE(asks());
}

}  // namespace
}  // namespace deputy
