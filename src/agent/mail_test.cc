// What comes in for a run, in its conversation and in what it does next.
#include "agent/mail.h"

#include <gtest/gtest.h>

#include "agent/next.h"

namespace deputy {
namespace {

const SessionId kChild("sess_1_bbbbbb");

class MailInAConversation : public testing::Test {
 protected:
  void add(Fact fact) {
    Event event;
    event.fact = std::move(fact);
    apply(conversation, event);
  }
  void reply(ReplyStop stop, std::string text = "words") {
    Reply said;
    said.stop = stop;
    said.message = {.role = Role::assistant, .text = std::move(text)};
    add(ReplyReceived{said});
  }
  template <class N>
  bool comes_next(MailState mail, RunLimits limits = {}) const {
    return std::holds_alternative<N>(decide(conversation, limits, StopReason::none, mail));
  }
  Conversation conversation;
};

TEST_F(MailInAConversation, IsTakenBetweenTwoSteps) {
  add(InputGiven{Source::person, "go"});
  EXPECT_TRUE(comes_next<TakeMail>(MailState::here));
  add(Delivered{"nudge/1", Source::person, "hurry"});
  EXPECT_EQ(conversation.messages.back().text, "hurry");
  EXPECT_EQ(conversation.messages.back().source, Source::person);
  EXPECT_TRUE(comes_next<AskModel>(MailState::none));
}

TEST_F(MailInAConversation, IsNotTakenBetweenACallAndItsResult) {
  Reply said;
  said.stop = ReplyStop::calls;
  said.message = {.role = Role::assistant, .calls = {{"1", "Read", "{}"}}};
  add(ReplyReceived{said});
  EXPECT_TRUE(comes_next<RunCalls>(MailState::here));
}

TEST_F(MailInAConversation, GivesARunThatHadSaidAllAnotherStep) {
  reply(ReplyStop::finished);
  EXPECT_TRUE(comes_next<TakeMail>(MailState::here));
  add(Delivered{"report/sess_1_bbbbbb/1", Source::child, "found"});
  EXPECT_TRUE(comes_next<AskModel>(MailState::none));
  reply(ReplyStop::finished);
  EXPECT_TRUE(comes_next<Finish>(MailState::none));
}

TEST_F(MailInAConversation, IsWaitedForWhereAChildStillWorks) {
  EXPECT_TRUE(comes_next<AskModel>(MailState::expected)) << "there is work of its own";
  reply(ReplyStop::finished);
  EXPECT_TRUE(comes_next<AwaitMail>(MailState::expected));
  EXPECT_TRUE(comes_next<Finish>(MailState::none));
}

TEST_F(MailInAConversation, DoesNotKeepAFailedRunAlive) {
  reply(ReplyStop::failed);
  EXPECT_TRUE(comes_next<Finish>(MailState::here));
}

TEST_F(MailInAConversation, WaitsForTheNextRunWhereThereIsNoStepLeft) {
  reply(ReplyStop::finished);
  EXPECT_TRUE(comes_next<TakeMail>(MailState::here, {.max_turns = 2}));
  EXPECT_TRUE(comes_next<Finish>(MailState::here, {.max_turns = 1}));
}

TEST_F(MailInAConversation, IsTakenBeforeTheLastStepAtALimit) {
  for (const Reason limit : {Reason::max_turns, Reason::timeout}) {
    conversation = {};
    add(InputGiven{Source::runtime, "report now", limit});
    EXPECT_TRUE(comes_next<AskModel>(MailState::expected)) << "none is waited for";
    EXPECT_TRUE(comes_next<TakeMail>(MailState::here));
    add(Delivered{"report/sess_1_bbbbbb/1", Source::child, "found"});
    EXPECT_TRUE(comes_next<AskModel>(MailState::none));
    reply(ReplyStop::finished);
    EXPECT_TRUE(comes_next<Finish>(MailState::here)) << "there is no step after it";
  }
}

TEST_F(MailInAConversation, WaitsForTheNextRunWhereThereIsMoneyForAReportAlone) {
  add(InputGiven{Source::runtime, "report now", Reason::budget});
  EXPECT_TRUE(comes_next<AskModel>(MailState::here));
}

TEST_F(MailInAConversation, WaitsForTheNextRunWhereWhatItTakesMayBeMissingForTheReport) {
  add(InputGiven{Source::runtime, "report now", Reason::timeout});
  EXPECT_TRUE(comes_next<TakeMail>(MailState::here, {.is_on_budget = false}));
  EXPECT_TRUE(comes_next<AskModel>(MailState::here, {.is_on_budget = true}));
}

TEST_F(MailInAConversation, ANudgeIsUnreadUntilItIsDelivered) {
  add(Nudged{"1", Source::parent, "hurry"});
  EXPECT_TRUE(conversation.messages.empty());
  ASSERT_EQ(conversation.unread.size(), 1u);
  add(Delivered{"nudge/1", Source::parent, "hurry"});
  EXPECT_TRUE(conversation.unread.empty());
  EXPECT_TRUE(conversation.delivered.contains("nudge/1"));
}

TEST_F(MailInAConversation, AReportIsOwedFromTheMomentAChildIsLeftUntilItIsHandedOut) {
  const RunId run{kChild, 1};
  add(Detached{kChild, 1});
  EXPECT_TRUE(conversation.beside.at(run));
  add(Attached{kChild, 1});
  EXPECT_FALSE(conversation.beside.at(run)) << "a call hands it out";
  add(Detached{kChild, 1, "q_1"});
  EXPECT_TRUE(conversation.beside.at(run));
  EXPECT_TRUE(conversation.delivered.contains("question/q_1"));
  add(Attached{kChild, 2});
  EXPECT_TRUE(conversation.beside.at(run)) << "a further run hands out only its own";
  add(Delivered{"report/sess_1_bbbbbb/2", Source::child, "of another run"});
  EXPECT_TRUE(conversation.beside.at(run));
  add(Delivered{"report/sess_1_bbbbbb/1", Source::child, "found"});
  EXPECT_FALSE(conversation.beside.at(run));
}

TEST(MailStop, AChildWhoseQuestionIsNotAnsweredEndsBlocked) {
  const Next next = decide({}, {}, StopReason::unanswered);
  const auto* finish = std::get_if<Finish>(&next);
  ASSERT_TRUE(finish);
  EXPECT_EQ(finish->status, Status::blocked);
  EXPECT_EQ(finish->reason, Reason::question_unanswered);
}

}  // namespace
}  // namespace deputy
