#include "agent/next.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

Conversation after(ReplyStop stop, std::string text = "words", std::string error = "") {
  Conversation conversation;
  Event event;
  Reply reply;
  reply.stop = stop;
  reply.message = {.role = Role::assistant, .text = std::move(text)};
  if (stop == ReplyStop::calls) reply.message.calls = {{"1", "Read", "{}"}};
  reply.error = std::move(error);
  event.fact = ReplyReceived{reply};
  apply(conversation, event);
  return conversation;
}

Finish finish_of(const Conversation& conversation, RunLimits limits = {},
                 StopReason stop = StopReason::none) {
  const Next next = decide(conversation, limits, stop);
  const auto* finish = std::get_if<Finish>(&next);
  EXPECT_TRUE(finish) << "it goes on";
  return finish ? *finish : Finish{Status::failed, Reason::internal, "it goes on"};
}

TEST(Next, AsksFirst) { EXPECT_TRUE(std::holds_alternative<AskModel>(decide({}, {}, StopReason::none))); }

TEST(Next, RunsCallsBeforeItAsksAgain) {
  auto conversation = after(ReplyStop::calls);
  EXPECT_TRUE(std::holds_alternative<RunCalls>(decide(conversation, {}, StopReason::none)));
  Event event;
  event.call = 0;
  event.fact = CallFinished{{"1", ToolStatus::ok, "r"}};
  apply(conversation, event);
  EXPECT_TRUE(std::holds_alternative<AskModel>(decide(conversation, {}, StopReason::none)));
}

TEST(Next, AFinishedReplyCompletes) {
  EXPECT_EQ(finish_of(after(ReplyStop::finished)).status, Status::completed);
}

TEST(Next, ReachingALimitIsPartialNeverCompleted) {
  EXPECT_EQ(finish_of(after(ReplyStop::output_limit)).reason, Reason::output_limit);
  EXPECT_EQ(finish_of(after(ReplyStop::output_limit)).status, Status::partial);
  EXPECT_EQ(finish_of(after(ReplyStop::context_exhausted)).status, Status::partial);
  EXPECT_EQ(finish_of(after(ReplyStop::finished, "  \n")).reason, Reason::no_text);
  EXPECT_EQ(finish_of({}, {}, StopReason::deadline).status, Status::partial);
  EXPECT_EQ(finish_of({}, {}, StopReason::deadline).reason, Reason::timeout);
  EXPECT_EQ(finish_of({}, {.is_delegated = true}, StopReason::stalled).status, Status::partial);
  EXPECT_EQ(finish_of({}, {.is_delegated = true}, StopReason::stalled).reason, Reason::stalled)
      << "who is not heard of has no last step to report in";
}

TEST(Next, TheStepLimitHoldsAtItAndNotBefore) {
  auto conversation = after(ReplyStop::calls);
  conversation.pending.clear();
  EXPECT_TRUE(std::holds_alternative<AskModel>(decide(conversation, {.max_turns = 2}, StopReason::none)));
  EXPECT_EQ(finish_of(conversation, {.max_turns = 1}).reason, Reason::max_turns);
}

TEST(Next, ProviderFailuresFail) {
  EXPECT_EQ(finish_of(after(ReplyStop::failed, "", "down")),
            (Finish{Status::failed, Reason::provider_error, "down"}));
  EXPECT_EQ(finish_of(after(ReplyStop::stalled, "", "silent")),
            (Finish{Status::partial, Reason::stalled, "silent"}));
  EXPECT_EQ(finish_of(after(ReplyStop::no_key, "", "no key")).reason, Reason::no_api_key);
}

TEST(Next, EachStopHasItsReason) {
  EXPECT_EQ(finish_of({}, {}, StopReason::user).reason, Reason::cancelled_by_user);
  EXPECT_EQ(finish_of({}, {}, StopReason::terminated),
            (Finish{Status::cancelled, Reason::cancelled_by_user, "ended by SIGTERM"}));
  EXPECT_EQ(finish_of({}, {}, StopReason::parent).reason, Reason::cancelled_by_parent);
  EXPECT_EQ(finish_of({}, {}, StopReason::parent_stopped).reason, Reason::parent_stopped);
  EXPECT_TRUE(std::holds_alternative<Suspend>(decide({}, {}, StopReason::shutdown)));
  EXPECT_TRUE(std::holds_alternative<Suspend>(decide({}, {}, StopReason::store_failed)));
}

TEST(Conversation, HalfFinishedCallsOfATruncatedReplyAreNotRun) {
  Conversation conversation;
  Event event;
  Reply reply;
  reply.stop = ReplyStop::output_limit;
  reply.message = {.role = Role::assistant, .calls = {{"1", "Read", "{\"file"}}};
  event.fact = ReplyReceived{reply};
  apply(conversation, event);
  EXPECT_TRUE(conversation.pending.empty());
}

TEST(Conversation, ResultsStandInCallOrderWhateverOrderTheyCameIn) {
  Conversation conversation;
  Event event;
  Reply reply;
  reply.stop = ReplyStop::calls;
  reply.message = {.role = Role::assistant, .calls = {{"1", "Read", "{}"}, {"2", "Read", "{}"}}};
  event.fact = ReplyReceived{reply};
  apply(conversation, event);
  for (const int call : {1, 0}) {
    event.call = call;
    event.fact = CallFinished{{std::to_string(call + 1), ToolStatus::ok, "r"}};
    apply(conversation, event);
  }
  ASSERT_EQ(conversation.messages.size(), 2u);
  EXPECT_EQ(conversation.messages[1].results[0].call_id, "1");
  EXPECT_EQ(conversation.messages[1].results[1].call_id, "2");
}

TEST(Report, APartialOneHoldsTheNotesThenTheTextSoFar) {
  auto conversation = after(ReplyStop::context_exhausted, "text so far");
  conversation.notes = {"one", "two"};
  const auto report = report_of(conversation, {}, {Status::partial, Reason::context_exhausted, "full"}, {});
  EXPECT_EQ(report.body, "one\ntwo\n\ntext so far");
  EXPECT_EQ(report.errors.front().code, "CONTEXT_EXHAUSTED");
}

TEST(Report, TheSummaryIsTheFirst500CharactersOfTheBodyWhereNoneIsGiven) {
  for (const std::string character : {"x", "ü", "🙂"}) {
    std::string text;
    for (int i = 0; i < 500; ++i) text += character;
    EXPECT_EQ(report_of(after(ReplyStop::finished, text), {}, {}, {}).summary, text) << "at the limit";
    EXPECT_EQ(report_of(after(ReplyStop::finished, text + character), {}, {}, {}).summary, text);
  }
}

}  // namespace
}  // namespace deputy
