#include "model/scripted.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "base/json.h"
#include "support/run.h"

namespace deputy {
namespace {

using testing::HasSubstr;

Message said(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

Message tool_said(std::string content) {
  Message message;
  message.role = Role::tool;
  message.results.push_back({.call_id = "call_0_0", .content = std::move(content)});
  return message;
}

class Scripted : public testing::Test {
 protected:
  ScriptedProvider& play(std::string_view replies, std::string_view more = "") {
    return play_script(R"({"v":1,"sessions":[{"replies":[)" + std::string(replies) + "]}]" +
                       std::string(more) + "}");
  }
  ScriptedProvider& play_script(const std::string& script) {
    auto made =
        ScriptedProvider::parse(script, loop_, [this](std::string_view line) { log_.emplace_back(line); });
    EXPECT_TRUE(made) << to_text(made.error());
    provider_ = *std::move(made);
    return *provider_;
  }

  Reply ask(StopToken stop = {}) {
    Request request;
    request.prefix = prefix_;
    request.messages = messages_;
    request.label = "scan";
    request.agent = "reader";
    request.depth = 1;
    streamed_.clear();
    return run(loop_,
               provider_->ask(
                   std::move(request),
                   [this](const Delta& delta) { streamed_ += std::get<TextDelta>(delta).text; }, stop));
  }

  SimLoop loop_{1};
  std::shared_ptr<const RequestPrefix> prefix_ =
      std::make_shared<RequestPrefix>(RequestPrefix{ModelName("scripted/a"), "Be brief.", {}, 100});
  std::vector<Message> messages_ = {said(Role::user, "go")};
  std::unique_ptr<ScriptedProvider> provider_;
  std::vector<std::string> log_;
  std::string streamed_;
};

TEST_F(Scripted, TheNumberOfRepliesSoFarChoosesTheNext) {
  play(R"({"text":"one"},{"text":"two"})");
  EXPECT_EQ(ask().message.text, "one");
  EXPECT_EQ(ask().message.text, "one") << "it keeps no state";
  messages_.push_back(said(Role::assistant, "one"));
  messages_.push_back(said(Role::user, "and then?"));
  const Reply reply = ask();
  EXPECT_EQ(reply.message.text, "two");
  EXPECT_EQ(reply.stop, ReplyStop::finished);
  EXPECT_EQ(reply.message.role, Role::assistant);
  EXPECT_EQ(reply.model, ModelName("scripted/a"));
}

TEST_F(Scripted, CallsGetDeterministicIdsAndMakeTheReplyWait) {
  play(
      R"({"text":"x"},{"calls":[{"name":"Read","arguments":{"file_path":"a"}},{"name":"Note","id":"mine"}]})");
  messages_.push_back(said(Role::assistant, "x"));
  messages_.push_back(said(Role::user, "go on"));
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::calls);
  EXPECT_EQ(reply.message.calls,
            (std::vector<Call>{{"call_1_0", "Read", R"({"file_path":"a"})"}, {"mine", "Note", "{}"}}));
}

TEST_F(Scripted, UsageIsWhatTheScriptSaysOrAnEstimate) {
  play(R"({"text":"12345678","usage":{"input":7,"output":3,"cost_micros":12}})");
  EXPECT_EQ(ask().usage, (Usage{7, 3, 0, 0, 12}));
  play(R"({"text":"12345678"})");
  const Reply estimated = ask();
  EXPECT_EQ(estimated.usage.output, 2);
  EXPECT_EQ(estimated.usage.input, 3) << "eleven bytes of system prompt and message";
  EXPECT_EQ(estimated.usage.cost_micros, 0);
  EXPECT_EQ(ask(), estimated);
}

TEST_F(Scripted, StreamsItsText) {
  const std::string text(500, 'a');
  play(R"({"text":")" + text + "\"}");
  EXPECT_EQ(ask().message.text, text);
  EXPECT_EQ(streamed_, text);
}

TEST_F(Scripted, TheFirstByteComesWhenTheScriptSays) {
  play(R"({"text":"late","first_byte_ms":1500})");
  const TimePoint before = loop_.clock().now();
  EXPECT_EQ(ask().message.text, "late");
  EXPECT_EQ(loop_.clock().now() - before, std::chrono::milliseconds(1500));
}

TEST_F(Scripted, AStopEndsTheWaiting) {
  play(R"({"text":"late","first_byte_ms":60000})");
  StopSource stop;
  const TimerId timer = loop_.timers().call_at(loop_.clock().now() + std::chrono::seconds(2),
                                               [&stop] { stop.request(StopReason::user); });
  const Reply reply = ask(stop.token());
  EXPECT_EQ(reply.stop, ReplyStop::stopped);
  EXPECT_EQ(streamed_, "");
  EXPECT_EQ(loop_.clock().now(), timer.first);
  EXPECT_EQ(ask(stop.token()).stop, ReplyStop::stopped) << "also when it came before";
}

TEST_F(Scripted, ErrorsAreRepliesOfTheirKind) {
  play(R"({"error":"boom"})");
  Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_EQ(reply.error, "boom");
  play(
      R"({"text":"so far","calls":[{"name":"Read","arguments":"{\"file"}],"error":{"kind":"output_limit"}})");
  reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::output_limit);
  EXPECT_EQ(reply.message.text, "so far");
  EXPECT_EQ(reply.message.calls.front().arguments, "{\"file");
}

TEST_F(Scripted, FailsWhereItIsNotToldWhatItExpects) {
  play(R"({"text":"x"},{"expect":{"contains":"42 lines"},"text":"good"})");
  messages_.push_back(said(Role::assistant, "x"));
  messages_.push_back(tool_said("there are 42 lines"));
  messages_.push_back(said(Role::user, "hurry"));
  EXPECT_EQ(ask().message.text, "good") << "a nudge behind the result hides nothing";
  messages_[2] = tool_said("there are 41 lines");
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("expected \"42 lines\" at step 1"));
  EXPECT_THAT(reply.error, HasSubstr("there are 41 lines"));
}

TEST_F(Scripted, PastTheLastReplyItSaysWhoAskedForWhich) {
  play(R"({"text":"one"})");
  messages_.push_back(said(Role::assistant, "one"));
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_EQ(reply.error,
            "the script has no reply 1 for session label=scan agent=reader depth=1: sessions[0] holds 1, "
            "counted from 0");
  play_script(R"({"v":1,"sessions":[{"match":{"label":"other"},"replies":[{"text":"x"}]}]})");
  EXPECT_EQ(ask().error, "the script has no session that fits label=scan agent=reader depth=1");
}

TEST_F(Scripted, LogsEachRequestWhereTheScriptNamesALog) {
  play(R"({"text":"one"})");
  ask();
  EXPECT_TRUE(log_.empty());
  const ScriptedProvider& provider = play(R"({"text":"one"})", R"(,"log":"calls.jsonl")");
  EXPECT_EQ(provider.log_path(), "calls.jsonl");
  messages_[0].text = std::string(1000, 'x') + "\n";
  ask();
  ASSERT_EQ(log_.size(), 1U);
  const auto line = parse_json_object(log_.front());
  ASSERT_TRUE(line);
  EXPECT_EQ(string_or(*line, "label", ""), "scan");
  EXPECT_EQ(string_or(*line, "agent", ""), "reader");
  EXPECT_EQ(integer_or(*line, "depth", -1), 1);
  EXPECT_EQ(integer_or(*line, "step", -1), 0);
  EXPECT_EQ(integer_or(*line, "messages", -1), 1);
  EXPECT_LT(string_or(*line, "last", "").size(), 300U);
  EXPECT_FALSE(log_.front().contains('\n'));
}

TEST_F(Scripted, AMistakeInTheScriptIsAnError) {
  const auto made = ScriptedProvider::parse(R"({"v":1,"sessions":[{"replys":[]}]})", loop_);
  ASSERT_FALSE(made);
  EXPECT_THAT(to_text(made.error()), HasSubstr("did you mean \"replies\"?"));
}

}  // namespace
}  // namespace deputy
