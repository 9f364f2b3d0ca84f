#include "model/openai_responses.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "model/outcome_text.h"
#include "model/reply_draft.h"

namespace deputy {
namespace {

using api::outcome_text;
using testing::HasSubstr;
using testing::Not;

std::string event(std::string_view type, std::string_view members) {
  return fmt::format("event: {0}\ndata: {{\"type\":\"{0}\",{1}}}\n\n", type, members);
}

std::string item(int place, std::string_view json) {
  return event("response.output_item.done", fmt::format(R"("output_index":{},"item":{})", place, json));
}

std::string end(std::string_view type = "response.completed", std::string_view members = R"("id":"r1")") {
  return event(type, fmt::format(R"("response":{{{}}})", members));
}

constexpr std::string_view kReasoning =
    R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"gAAA"})";
constexpr std::string_view kText =
    R"({"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Hi"}],"phase":"commentary","role":"assistant"})";
constexpr std::string_view kCall =
    R"({"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"x\":1}","call_id":"call_1","name":"Read"})";

std::expected<Reply, Failure> decode(std::string_view body) {
  const auto dialect = openai_responses_dialect();
  const auto decoder = dialect->decoder();
  decoder->feed(body, {});
  return decoder->finish();
}

std::string outcome_of(std::string_view body) { return outcome_text(decode(body)); }

std::string joined(std::initializer_list<std::string_view> items) {
  return fmt::format("{}", fmt::join(items, ","));
}

TEST(OpenAiResponsesDecoder, TextIsShownAsItComes) {
  const auto decoder = openai_responses_dialect()->decoder();
  std::string shown;
  const DeltaSink sink = [&](const Delta& delta) { shown += std::get<TextDelta>(delta).text; };
  EXPECT_FALSE(decoder->feed(": ping\n\n" + event("keepalive", R"("sequence_number":0)"), sink))
      << "no progress";
  EXPECT_TRUE(decoder->feed(event("response.created", R"("response":{})"), sink));
  EXPECT_TRUE(decoder->feed(event("response.output_text.delta", R"("delta":"H")"), sink));
  EXPECT_TRUE(decoder->feed(event("response.output_text.delta", R"("delta":"i")"), sink));
  EXPECT_TRUE(decoder->feed(event("response.of_tomorrow", R"("delta":"?")"), sink)) << "unknown, but alive";
  EXPECT_FALSE(decoder->feed(event("still_here", R"("n":1)"), sink)) << "and this is nothing of an answer";
  EXPECT_EQ(shown, "Hi");
  EXPECT_FALSE(decoder->is_complete());
  EXPECT_TRUE(decoder->feed(item(0, kText) + end(), sink));
  EXPECT_TRUE(decoder->is_complete()) << "no need to wait for the end of the body";
  EXPECT_EQ(outcome_text(decoder->finish()), "finished 0/0/0/0\ntext: Hi");
}

TEST(OpenAiResponsesDecoder, ItemsStandInTheOrderOfTheirPlaces) {
  EXPECT_EQ(outcome_of(item(2, kCall) + item(0, kReasoning) + item(1, kText) + end()),
            "calls 0/0/0/0\ntext: Hi\nthinking: Hm.\ncall call_1 Read {\"x\":1}");
}

TEST(OpenAiResponsesDecoder, WhatIsSentTwiceCountsOnce) {
  const auto numbered = [](int number) {
    return event("response.output_text.delta", fmt::format(R"("delta":"a","sequence_number":{})", number));
  };
  const auto decoder = openai_responses_dialect()->decoder();
  std::string shown;
  decoder->feed(numbered(0) + numbered(0) + numbered(1) + numbered(1) + numbered(0),
                [&](const Delta& delta) { shown += std::get<TextDelta>(delta).text; });
  EXPECT_EQ(shown, "aa");
  EXPECT_EQ(outcome_of(item(0, kCall) + item(0, kCall) + end()),
            "calls 0/0/0/0\ntext: \ncall call_1 Read {\"x\":1}");
}

TEST(OpenAiResponsesDecoder, TheLastEventStandsInForItemsThatNeverCame) {
  EXPECT_EQ(outcome_of(end("response.completed", fmt::format(R"("output":[{},{}])", kText, kCall))),
            "calls 0/0/0/0\ntext: Hi\ncall call_1 Read {\"x\":1}");
  EXPECT_EQ(outcome_of(event("response.output_text.delta", R"("delta":"Hi")") + end()),
            "finished 0/0/0/0\ntext: Hi");
}

TEST(OpenAiResponsesDecoder, AnIncompleteAnswerRunsNoCall) {
  const std::string half =
      R"({"type":"function_call","status":"incomplete","arguments":"{\"x","call_id":"call_1","name":"Read"})";
  const auto cut =
      decode(item(0, kReasoning) + item(1, half) +
             end("response.incomplete", R"("incomplete_details":{"reason":"max_output_tokens"})"));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->stop, ReplyStop::output_limit);
  EXPECT_TRUE(cut->message.calls.empty()) << "nobody will answer it";
  EXPECT_TRUE(cut->message.wire.empty()) << "half a turn does not go back as it came";
  EXPECT_EQ(outcome_of(item(0, half) + end()), "output_limit 0/0/0/0\ntext: ")
      << "also where the answer is said to be completed";
  EXPECT_EQ(outcome_of(end("response.incomplete", R"("incomplete_details":{"reason":"content_filter"})")),
            "refused 0/0/0/0\ntext: \nerror: the provider declined to answer (content filter); put the task "
            "differently or choose another model");
}

TEST(OpenAiResponsesDecoder, ARefusalIsSaid) {
  EXPECT_EQ(outcome_of(item(0, R"({"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]})") +
                       end()),
            "refused 0/0/0/0\ntext: \nerror: the provider declined to answer: I cannot.; put the task "
            "differently or choose another model");
}

TEST(OpenAiResponsesDecoder, FailuresInsideAreTyped) {
  EXPECT_EQ(outcome_of(event("error", R"("code":"server_error","message":"oh")")),
            "transient: the provider broke off: oh");
  EXPECT_EQ(outcome_of(event(
                "error", R"("error":{"code":"rate_limit_exceeded","message":"Please try again in 3s."})")),
            "rate_limited: the provider broke off: Please try again in 3s. [after 3s]");
  EXPECT_EQ(
      outcome_of(item(0, kText) +
                 end("response.failed", R"("error":{"code":"context_length_exceeded","message":"full"})")),
      "context_exhausted: the provider broke off: full");
  EXPECT_THAT(outcome_of(end("response.failed", R"("error":null)")), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(end("response.cancelled", "")), HasSubstr("transient"));
  const auto counted = decode(
      end("response.failed", R"("error":{"message":"oh"},"usage":{"input_tokens":5,"output_tokens":1})"));
  EXPECT_EQ(counted.error().usage, (Usage{.input = 5, .output = 1}));
}

TEST(OpenAiResponsesDecoder, AnEndIsNeeded) {
  EXPECT_THAT(outcome_of(""), HasSubstr("transient"));
  EXPECT_THAT(outcome_of("<html>"), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(item(0, kText)), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(item(0, kText) + "data: [DONE]\n\n"), HasSubstr("transient"));
  EXPECT_THAT(outcome_of("data: {\"type\"\n\n" + end()), HasSubstr("transient"));
}

TEST(OpenAiResponsesDecoder, UsageCountsWhatIsCached) {
  const auto reply = decode(
      item(0, kText) +
      end("response.completed",
          R"("usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}})"));
  EXPECT_EQ(reply->usage, (Usage{.input = 9, .output = 5, .cache_read = 4, .cache_write = 3}));
}

TEST(OpenAiResponsesDecoder, ManyCallsAreTakenAndNotOneMore) {
  const auto with_calls = [](std::size_t count) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i) body += item(static_cast<int>(i), kCall);
    return decode(body + end());
  };
  const auto most = with_calls(api::kMostCalls);
  ASSERT_TRUE(most && most->message.calls.size() == api::kMostCalls);
  EXPECT_NE(most->message.calls[0].id, most->message.calls[1].id);
  EXPECT_EQ(with_calls(api::kMostCalls + 1).error().kind, Failure::Kind::definite);
}

TEST(OpenAiResponsesDecoder, LongTextIsTakenAndNotOneByteMore) {
  const auto with_text = [](std::size_t bytes) {
    return decode(
        item(0, fmt::format(R"({{"type":"message","content":[{{"type":"output_text","text":"{}"}}]}})",
                            std::string(bytes, 'x'))) +
        end());
  };
  EXPECT_EQ(with_text(api::kMostBytes)->message.text.size(), api::kMostBytes);
  EXPECT_EQ(with_text(api::kMostBytes + 1).error().kind, Failure::Kind::definite);
  const auto decoder = openai_responses_dialect()->decoder();
  const std::string delta =
      event("response.output_text.delta", fmt::format(R"("delta":"{}")", std::string(api::kMostBytes, 'x')));
  decoder->feed(delta, {});
  EXPECT_FALSE(decoder->is_complete());
  decoder->feed(event("response.output_text.delta", R"("delta":"x")"), {});
  EXPECT_TRUE(decoder->is_complete());
  EXPECT_EQ(decoder->finish().error().kind, Failure::Kind::definite);
}

TEST(OpenAiResponses, ATurnGoesBackAsTheItemsItCameIn) {
  const auto reply = decode(item(0, kReasoning) + item(1, kText) + item(2, kCall) + end());
  EXPECT_EQ(openai_responses_dialect()->encode(reply->message), joined({kReasoning, kText, kCall}));
}

TEST(OpenAiResponses, ReasoningWithoutWhatItLedToStaysBehind) {
  const auto reply = decode(item(0, kReasoning) + item(1, kText) + item(2, kReasoning) + end());
  EXPECT_EQ(openai_responses_dialect()->encode(reply->message), joined({kReasoning, kText}));
  EXPECT_TRUE(decode(item(0, kReasoning) + end())->message.wire.empty());
}

TEST(OpenAiResponses, ReasoningThatIsNotEncryptedCannotGoBack) {
  const auto reply =
      decode(item(0, R"({"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":null})") +
             item(1, kText) + item(2, kCall) + end());
  EXPECT_EQ(openai_responses_dialect()->encode(reply->message),
            R"({"role":"assistant","content":[{"type":"output_text","text":"Hi"}]},)"
            R"({"type":"function_call","call_id":"call_1","name":"Read","arguments":"{\"x\":1}"})");
}

TEST(OpenAiResponses, ATurnWhoseCallsGotOtherIdsKeepsItsReasoning) {
  for (const std::string_view other : {"call_1", ""}) {
    const std::string second = fmt::format(
        R"({{"id":"fc_2","type":"function_call","arguments":"{{}}","call_id":"{}","name":"Read"}})", other);
    const auto reply = decode(item(0, kReasoning) + item(1, kCall) + item(2, second) + end());
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->message.calls.size(), 2u);
    const std::string turn = openai_responses_dialect()->encode(reply->message);
    for (const Call& call : reply->message.calls) EXPECT_THAT(turn, HasSubstr(call.id));
    EXPECT_THAT(turn, HasSubstr("encrypted_content"));
    EXPECT_NE(reply->message.calls[0].id, reply->message.calls[1].id);
    EXPECT_EQ(turn.find("call_1"), turn.rfind("call_1")) << turn;
  }
}

TEST(OpenAiResponses, AnotherProvidersTurnIsBuiltAnew) {
  const Message turn{.role = Role::assistant,
                     .calls = {{.id = "toolu_1", .name = "Read", .arguments = "{\"x"}},
                     .wire = "openai-chat\n{}"};
  EXPECT_EQ(openai_responses_dialect()->encode(turn),
            R"({"type":"function_call","call_id":"toolu_1","name":"Read","arguments":"{\"x"})");
}

TEST(OpenAiResponses, EveryMessageIsAFragment) {
  const auto dialect = openai_responses_dialect();
  for (const Role role : {Role::user, Role::assistant, Role::tool}) {
    EXPECT_TRUE(parse_json_object(dialect->encode(Message{.role = role}))) << "an empty one too";
  }
}

TEST(OpenAiResponses, OnlyModelsThatReasonAreAskedForIt) {
  const auto head_for = [](std::string model) {
    return openai_responses_dialect()->encode(RequestPrefix{.model = ModelName(std::move(model))}).head;
  };
  for (const char* model : {"openai/gpt-5.5", "openai/o3", "openai/codex-mini", "openai/gpt-oss-120b"}) {
    EXPECT_THAT(head_for(model), HasSubstr("reasoning.encrypted_content")) << model;
  }
  for (const char* model :
       {"openai/gpt-4.1", "openai/gpt-4o-mini", "openai/gpt-3.5-turbo", "openai/chatgpt-4o-latest"}) {
    EXPECT_THAT(head_for(model), Not(HasSubstr("encrypted"))) << model;
  }
  EXPECT_THAT(head_for("openai/gpt-5.5"), HasSubstr(R"("store":false)"));
}

TEST(OpenAiResponses, ARequestNamesItsAddressAndItsKey) {
  const HttpRequest request =
      openai_responses_dialect()->address(ModelName("openai/x"), {.base_url = "https://h/v1", .key = "k"});
  EXPECT_EQ(request.url, "https://h/v1/responses");
  EXPECT_EQ(find_header(request.headers, "authorization"), "Bearer k");
}

}  // namespace
}  // namespace deputy
