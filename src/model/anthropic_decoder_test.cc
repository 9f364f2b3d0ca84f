#include "model/anthropic_decoder.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "model/anthropic.h"
#include "model/fixture_replay.h"
#include "model/reply_draft.h"

namespace deputy {
namespace {

using Kind = Failure::Kind;

std::string event(std::string_view json) { return "data: " + std::string(json) + "\n\n"; }

std::string started() {
  return event(
      R"({"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":7,"output_tokens":1}}})");
}

std::string block(int index, std::string_view content, std::initializer_list<std::string_view> deltas = {}) {
  const std::string at = std::to_string(index);
  std::string events = event(R"({"type":"content_block_start","index":)" + at + R"(,"content_block":)" +
                             std::string(content) + "}");
  for (const std::string_view delta : deltas) {
    events +=
        event(R"({"type":"content_block_delta","index":)" + at + R"(,"delta":)" + std::string(delta) + "}");
  }
  return events + event(R"({"type":"content_block_stop","index":)" + at + "}");
}

std::string ended(std::string_view reason, std::string_view more = "") {
  return event(R"({"type":"message_delta","delta":{"stop_reason":")" + std::string(reason) + "\"" +
               std::string(more) + R"(},"usage":{"output_tokens":9}})") +
         event(R"({"type":"message_stop"})");
}

constexpr std::string_view kText = R"({"type":"text","text":""})";
constexpr std::string_view kSaidHello = R"({"type":"text_delta","text":"hello"})";
constexpr std::string_view kCall = R"({"type":"tool_use","id":"toolu_1","name":"Read","input":{}})";
constexpr std::string_view kArguments = R"({"type":"input_json_delta","partial_json":"{\"path\": \"a\"}"})";

std::expected<Reply, Failure> outcome_of(const std::string& body) {
  return replay(*anthropic_dialect(), body).outcome;
}

Reply reply_to(const std::string& body) {
  auto outcome = outcome_of(body);
  if (!outcome) ADD_FAILURE() << outcome.error().message;
  return outcome.value_or(Reply{});
}

Failure failure_of(const std::string& body) {
  auto outcome = outcome_of(body);
  if (outcome) ADD_FAILURE() << "it was taken for an answer: " << outcome->message.text;
  return outcome ? Failure{} : outcome.error();
}

json::array blocks_sent_back(const Reply& reply) {
  const auto turn = parse_json_object(anthropic_dialect()->encode(reply.message));
  return turn ? *array_at(*turn, "content") : json::array{};
}

TEST(AnthropicDecoder, TellsProgressFromPings) {
  const auto decoder = anthropic::make_decoder();
  EXPECT_FALSE(decoder->feed(": comment\n\n", {}));
  EXPECT_FALSE(decoder->feed(event(R"({"type": "ping"})"), {}));
  EXPECT_FALSE(decoder->feed(event(R"({"type":"news_of_tomorrow"})"), {}));
  EXPECT_TRUE(decoder->feed(started(), {}));
  EXPECT_FALSE(decoder->is_complete());
  EXPECT_TRUE(decoder->feed(block(0, kText, {kSaidHello}) + ended("end_turn"), {}));
  EXPECT_TRUE(decoder->is_complete());
  EXPECT_FALSE(decoder->feed("data: [DONE]\n\n", {}));
  EXPECT_EQ(decoder->finish()->message.text, "hello");
}

TEST(AnthropicDecoder, StopReasonsAreToldApart) {
  const auto stop = [](std::string_view reason) {
    return reply_to(started() + block(0, kText, {kSaidHello}) + ended(reason)).stop;
  };
  EXPECT_EQ(stop("end_turn"), ReplyStop::finished);
  EXPECT_EQ(stop("stop_sequence"), ReplyStop::finished);
  EXPECT_EQ(stop("tool_use"), ReplyStop::finished);  // it asked for nothing
  EXPECT_EQ(stop("max_tokens"), ReplyStop::output_limit);
  EXPECT_EQ(stop("pause_turn"), ReplyStop::paused);
  EXPECT_EQ(stop("refusal"), ReplyStop::refused);
  EXPECT_EQ(stop("model_context_window_exceeded"), ReplyStop::context_exhausted);
  EXPECT_EQ(stop("sunset"), ReplyStop::finished);
}

TEST(AnthropicDecoder, SaysWhyItWasRefused) {
  const Reply reply =
      reply_to(started() + block(0, kText, {kSaidHello}) +
               ended("refusal", R"(,"stop_details":{"category":"cyber","explanation":"no\nexploits"})"));
  EXPECT_TRUE(reply.error.contains("declined to answer (cyber): no exploits;")) << reply.error;
  EXPECT_EQ(reply.message.text, "hello");
}

TEST(AnthropicDecoder, SaysThatAStopReasonIsUnknownAndRunsNothing) {
  const Reply reply = reply_to(started() + block(0, kCall, {kArguments}) + ended("sunset"));
  EXPECT_EQ(reply.stop, ReplyStop::finished);
  EXPECT_TRUE(reply.message.calls.empty());
  EXPECT_TRUE(reply.error.contains("sunset")) << reply.error;
}

TEST(AnthropicDecoder, KeepsNoCallOfATurnThatWasCutOffOrDeclined) {
  for (const std::string_view reason : {"max_tokens", "refusal", "model_context_window_exceeded"}) {
    const Reply reply =
        reply_to(started() +
                 block(0, R"({"type":"thinking","thinking":""})",
                       {R"({"type":"thinking_delta","thinking":"hm"})",
                        R"({"type":"signature_delta","signature":"s"})"}) +
                 block(1, kText, {kSaidHello}) +
                 block(2, kCall, {R"({"type":"input_json_delta","partial_json":"{\"pa"})"}) + ended(reason));
    EXPECT_TRUE(reply.message.calls.empty()) << reason;
    const json::array blocks = blocks_sent_back(reply);
    ASSERT_EQ(blocks.size(), 2U) << reason;
    EXPECT_EQ(blocks[0].at("type"), "thinking");
    EXPECT_EQ(blocks[1].at("type"), "text");
  }
}

TEST(AnthropicDecoder, ATurnOfThinkingAloneDoesNotGoBack) {
  const Reply reply = reply_to(started() +
                               block(0, R"({"type":"thinking","thinking":"","signature":"s"})",
                                     {R"({"type":"thinking_delta","thinking":"hm"})"}) +
                               ended("max_tokens"));
  EXPECT_EQ(reply.message.thinking, "hm");
  EXPECT_TRUE(reply.message.wire.empty());
}

TEST(AnthropicDecoder, CallsComeAsTheModelWroteThem) {
  const Reply reply = reply_to(
      started() +
      block(0, kCall,
            {R"({"type":"input_json_delta","partial_json":""})",
             R"({"type":"input_json_delta","partial_json":"{\"n\": 1.50,"})",
             R"({"type":"input_json_delta","partial_json":" \"big\": 123456789012345678901}"})"}) +
      block(1, R"({"type":"tool_use","id":"toolu_2","name":"List","input":{}})") + ended("tool_use"));
  ASSERT_EQ(reply.message.calls.size(), 2U);
  EXPECT_EQ(reply.message.calls[0].arguments, R"({"n": 1.50, "big": 123456789012345678901})");
  EXPECT_EQ(reply.message.calls[1].arguments, "{}");
  EXPECT_EQ(reply.stop, ReplyStop::calls);
  EXPECT_TRUE(anthropic_dialect()
                  ->encode(reply.message)
                  .contains(R"("input":{"n": 1.50, "big": 123456789012345678901})"));
}

TEST(AnthropicDecoder, ArgumentsThatAreNoJsonStillGiveAValidRequest) {
  const Reply reply = reply_to(
      started() + block(0, kCall, {R"({"type":"input_json_delta","partial_json":"{\"path\": oops"})"}) +
      ended("tool_use"));
  ASSERT_EQ(reply.message.calls.size(), 1U);
  EXPECT_EQ(reply.message.calls[0].arguments, R"({"path": oops)");
  const json::array blocks = blocks_sent_back(reply);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_TRUE(blocks[0].at("input").is_object());
}

TEST(AnthropicDecoder, TakesAnInputThatCameWhole) {
  const Reply reply = reply_to(
      started() + block(0, R"({"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"a"}})") +
      ended("end_turn"));
  EXPECT_EQ(reply.stop, ReplyStop::calls);
  EXPECT_EQ(reply.message.calls.at(0).arguments, R"({"path":"a"})");
}

TEST(AnthropicDecoder, GivesCallsIdsThatTheApiTakesBack) {
  const Reply reply = reply_to(
      started() + block(0, R"({"type":"tool_use","id":"functions.Read:0","name":"Read","input":{}})") +
      block(1, R"({"type":"tool_use","name":"Read","input":{}})") +
      block(2, R"({"type":"tool_use","name":"Read","input":{}})") + ended("tool_use"));
  const json::array blocks = blocks_sent_back(reply);
  ASSERT_EQ(blocks.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& id = reply.message.calls[i].id;
    EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
              std::string::npos);
    EXPECT_EQ(string_or(blocks[i].as_object(), "id", ""), id);
    const Message results{.role = Role::tool, .results = {{.call_id = id, .content = "x"}}};
    EXPECT_TRUE(anthropic_dialect()->encode(results).contains("\"tool_use_id\":\"" + id + "\""));
  }
  EXPECT_NE(reply.message.calls[1].id, reply.message.calls[2].id);
}

TEST(AnthropicDecoder, CarriesBlocksAndDeltasThatItDoesNotKnow) {
  const std::string_view unknown = R"({"type":"oracle", "odds":0.10, "deep":{"a":[1,2]}})";
  const Reply reply = reply_to(started() + block(0, unknown) +
                               block(1, R"({"type":"poem","lines":null})",
                                     {R"({"type":"verse_delta","lines":"roses "})",
                                      R"({"type":"verse_delta","lines":"are red","meter":4})"}) +
                               block(2, R"({"type":"text","text":"as "})",
                                     {R"({"type":"text_delta","text":"said"})",
                                      R"({"type":"citations_delta","citation":{"url":"u"}})"}) +
                               ended("pause_turn"));
  EXPECT_EQ(reply.message.text, "as said");
  const std::string fragment = anthropic_dialect()->encode(reply.message);
  EXPECT_TRUE(fragment.contains(unknown)) << fragment;
  EXPECT_TRUE(fragment.contains(R"({"type":"poem","lines":"roses are red","meter":4})")) << fragment;
  EXPECT_TRUE(fragment.contains(R"({"type":"text","text":"as said","citations":[{"url":"u"}]})")) << fragment;
}

TEST(AnthropicDecoder, LeavesOutWhatTheApiRefuses) {
  const Reply reply = reply_to(started() + block(0, R"({"type":"thinking","thinking":"unsigned"})") +
                               block(1, R"({"type":"text","text":" \n"})") + block(2, kText, {kSaidHello}) +
                               block(3, kText) + ended("end_turn"));
  EXPECT_EQ(reply.message.text, " \nhello");
  EXPECT_EQ(blocks_sent_back(reply), json::array({{{"type", "text"}, {"text", "hello"}}}));
}

TEST(AnthropicDecoder, NeedsNoWireForPlainText) {
  EXPECT_TRUE(reply_to(started() + block(0, kText, {kSaidHello}) + ended("end_turn")).message.wire.empty());
}

TEST(AnthropicDecoder, CountsCachedTokensAsInput) {
  const Reply reply = reply_to(
      event(
          R"({"type":"message_start","message":{"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}})") +
      block(0, kText, {kSaidHello}) + ended("end_turn"));
  EXPECT_EQ(reply.usage, (Usage{.input = 325, .output = 9, .cache_read = 300, .cache_write = 20}));
}

TEST(AnthropicDecoder, RejectsEventsOutOfOrder) {
  const std::string stop = event(R"({"type":"content_block_stop","index":0})");
  const std::string delta =
      event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}})");
  const std::string whole = block(0, kText, {kSaidHello});
  for (const std::string& body : {delta + whole, stop + whole, whole + stop, whole + delta, whole + whole}) {
    EXPECT_EQ(failure_of(started() + body + ended("end_turn")).kind, Kind::transient) << body;
  }
}

TEST(AnthropicDecoder, ASecondBeginningCountsUntilSomethingWasShown) {
  const std::string hidden =
      event(R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})");
  const std::string good = block(0, kText, {kSaidHello}) + ended("end_turn");
  EXPECT_EQ(reply_to(started() + hidden + started() + good).message.text, "hello");
  EXPECT_EQ(failure_of(started() + block(0, kText, {kSaidHello}) + started() + good).kind, Kind::transient);
}

TEST(AnthropicDecoder, AnEndWithoutItsTerminalEventIsTriedAgain) {
  const std::string body = started() + block(0, kText, {kSaidHello});
  const Failure failure = failure_of(body);
  EXPECT_EQ(failure.kind, Kind::transient);
  EXPECT_EQ(failure.usage, (Usage{.input = 7, .output = 1}));
  EXPECT_EQ(failure_of(body + event(R"({"type":"message_stop"})")).kind, Kind::transient);
  EXPECT_EQ(failure_of("").kind, Kind::transient);
  EXPECT_EQ(failure_of("<html><title>Sign in</title></html>").kind, Kind::transient);
  EXPECT_EQ(failure_of(event("not json")).kind, Kind::transient);
}

TEST(AnthropicDecoder, ErrorsInTheMiddleAreTyped) {
  const auto kind = [](std::string_view type, std::string_view message) {
    return failure_of(started() + event(R"({"type":"error","error":{"type":")" + std::string(type) +
                                        R"(","message":")" + std::string(message) + "\"}}"))
        .kind;
  };
  EXPECT_EQ(kind("overloaded_error", "Overloaded"), Kind::rate_limited);
  EXPECT_EQ(kind("overloaded_error", "Busy"), Kind::rate_limited);
  EXPECT_EQ(kind("rate_limit_error", "slow down"), Kind::rate_limited);
  EXPECT_EQ(kind("api_error", "Internal server error"), Kind::transient);
  EXPECT_EQ(kind("timeout_error", "took too long"), Kind::transient);
  EXPECT_EQ(kind("invalid_request_error", "tools.0: bad"), Kind::definite);
  EXPECT_EQ(kind("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"),
            Kind::context_exhausted);
  EXPECT_EQ(kind("request_too_large", "too large"), Kind::context_exhausted);
  EXPECT_EQ(kind("authentication_error", "invalid x-api-key"), Kind::definite);
  EXPECT_EQ(kind("permission_error", "no"), Kind::definite);
  EXPECT_EQ(kind("billing_error", "no credit"), Kind::definite);
}

TEST(AnthropicDecoder, MendsTextThatIsNotUnicode) {
  const Reply reply = reply_to(
      started() +
      block(0, kText,
            {R"({"type":"text_delta","text":"a\ud800b"})", "{\"type\":\"text_delta\",\"text\":\"c\xff\"}"}) +
      ended("end_turn"));
  EXPECT_EQ(reply.message.text,
            "a\xef\xbf\xbd"
            "bc\xef\xbf\xbd");
}

// Whole and once only: a 16 MiB answer in 1-byte cuts takes too long.
std::expected<Reply, Failure> outcome_at_once(const std::string& body) {
  const auto decoder = anthropic::make_decoder();
  decoder->feed(body, {});
  return decoder->finish();
}

std::string text_of_size(std::size_t bytes) {
  const std::string half(bytes / 2, 'x');
  const std::string rest(bytes - half.size(), 'y');
  return started() +
         block(0, kText,
               {R"({"type":"text_delta","text":")" + half + "\"}",
                R"({"type":"text_delta","text":")" + rest + "\"}"}) +
         ended("end_turn");
}

TEST(AnthropicDecoder, TakesAnAnswerUpToItsLimitAndNoMore) {
  EXPECT_EQ(outcome_at_once(text_of_size(api::kMostBytes))->message.text.size(), api::kMostBytes);
  const auto larger = outcome_at_once(text_of_size(api::kMostBytes + 1));
  ASSERT_FALSE(larger.has_value());
  EXPECT_EQ(larger.error().kind, Kind::definite);
}

std::string blocks_of(std::string_view content, std::size_t count) {
  std::string body = started();
  for (std::size_t i = 0; i < count; ++i) body += block(static_cast<int>(i), content);
  return body + ended("tool_use");
}

TEST(AnthropicDecoder, TakesCallsAndBlocksUpToTheirLimitsAndNoMore) {
  EXPECT_EQ(outcome_at_once(blocks_of(kCall, api::kMostCalls))->message.calls.size(), api::kMostCalls);
  EXPECT_EQ(outcome_at_once(blocks_of(kCall, api::kMostCalls + 1)).error().kind, Kind::definite);
  EXPECT_TRUE(outcome_at_once(blocks_of(kText, anthropic::kMaxBlocks)).has_value());
  EXPECT_EQ(outcome_at_once(blocks_of(kText, anthropic::kMaxBlocks + 1)).error().kind, Kind::definite);
}

TEST(AnthropicDecoder, AnEventBeyondAllBoundsIsDefinite) {
  const auto decoder = anthropic::make_decoder();
  const std::string piece(1024 * 1024, 'x');
  decoder->feed("data: ", {});
  for (int i = 0; i < 33 && !decoder->is_complete(); ++i) decoder->feed(piece, {});
  EXPECT_TRUE(decoder->is_complete());
  EXPECT_EQ(decoder->finish().error().kind, Kind::definite);
}

}  // namespace
}  // namespace deputy
