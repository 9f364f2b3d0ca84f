#include "model/gemini_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/fixture_replay.h"
#include "model/gemini.h"
#include "model/reply_draft.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;
using Kind = Failure::Kind;

std::string chunk(std::string_view parts, std::string_view finish = "") {
  const std::string reason = finish.empty() ? "" : fmt::format(R"(,"finishReason":"{}")", finish);
  return fmt::format(
      "data: {{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{}]}}{},\"index\":0}}],"
      "\"responseId\":\"r1\"}}\r\n\r\n",
      parts, reason);
}

std::string usage_chunk(std::string_view usage) {
  return fmt::format("data: {{\"usageMetadata\":{}}}\r\n\r\n", usage);
}

std::expected<Reply, Failure> outcome_of(const std::string& body) {
  return replay(*gemini_dialect(), body).outcome;
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

std::string sent_back(const Reply& reply) { return gemini_dialect()->encode(reply.message); }

constexpr std::string_view kCall = R"({"functionCall":{"name":"Read","args":{"path":"a"}}})";

TEST(GeminiDecoder, JoinsTextAndKeepsSignedPartsApart) {
  const Reply reply =
      reply_to(chunk(R"({"text":"a"})") + chunk(R"({"text":"b"},{"text":"c","thoughtSignature":"s1"})") +
               chunk(R"({"text":"d"},{"text":""})", "STOP"));
  EXPECT_EQ(reply.message.text, "abcd");
  EXPECT_EQ(reply.stop, ReplyStop::finished);
  EXPECT_EQ(sent_back(reply),
            R"({"role":"model","parts":[{"text":"ab"},{"text":"c","thoughtSignature":"s1"},{"text":"d"}]})");
}

TEST(GeminiDecoder, NeedsNoWireForPlainText) {
  EXPECT_TRUE(reply_to(chunk(R"({"text":"a"})") + chunk(R"({"text":"b"})", "STOP")).message.wire.empty());
}

TEST(GeminiDecoder, ThoughtsAreNotShownAsText) {
  const Replayed replayed =
      replay(*gemini_dialect(), chunk(R"({"text":"hm ","thought":true})") +
                                    chunk(R"({"text":"ok","thought":true},{"text":"yes"})", "STOP"));
  EXPECT_EQ(replayed.streamed, "yes");
  EXPECT_EQ(replayed.outcome->message.text, "yes");
  EXPECT_EQ(replayed.outcome->message.thinking, "hm ok");
}

TEST(GeminiDecoder, CallsGoBackAsTheyCame) {
  const std::string_view first =
      R"({"functionCall": {"name":"Read", "args":{"n": 1.50,"big":123456789012345678901}, "id":"x7"}, "thoughtSignature":"s+/="})";
  const std::string_view second = R"({"functionCall":{"name":"List"}})";
  const Reply reply = reply_to(chunk(first) + chunk(second) + chunk(R"({"text":""})", "STOP"));
  EXPECT_EQ(reply.stop, ReplyStop::calls);
  EXPECT_EQ(reply.message.calls,
            (std::vector<Call>{{"x7", "Read", R"({"n": 1.50,"big":123456789012345678901})"},
                               {"local_r1_2", "List", "{}"}}));
  EXPECT_EQ(sent_back(reply), fmt::format(R"({{"role":"model","parts":[{},{}]}})", first, second));
}

TEST(GeminiDecoder, MadeUpIdsAreUniqueAndStayHere) {
  const Reply reply = reply_to(chunk(std::string(kCall) + "," + std::string(kCall), "STOP"));
  ASSERT_EQ(reply.message.calls.size(), 2U);
  EXPECT_NE(reply.message.calls[0].id, reply.message.calls[1].id);
  EXPECT_FALSE(sent_back(reply).contains("\"id\""));
  const Message results{.role = Role::tool,
                        .results = {{.call_id = reply.message.calls[0].id, .content = "x", .name = "Read"}}};
  EXPECT_EQ(gemini_dialect()->encode(results),
            R"({"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"output":"x"}}}]})");
}

TEST(GeminiDecoder, PutsCallsTogetherThatComeInPieces) {
  const Reply reply = reply_to(
      chunk(R"({"functionCall":{"name":"Read","willContinue":true,"id":"i"},"thoughtSignature":"s"})") +
      chunk(
          R"({"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"a/","willContinue":true}],"willContinue":true}})") +
      chunk(
          R"({"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"b"},{"jsonPath":"$.n[0]","numberValue":2.5},)"
          R"({"jsonPath":"$.all","boolValue":true},{"jsonPath":"$.none","nullValue":"NULL_VALUE"}],"willContinue":true}})") +
      chunk(R"({"functionCall":{}})", "STOP"));
  ASSERT_EQ(reply.message.calls.size(), 1U);
  EXPECT_EQ(*parse_json(reply.message.calls[0].arguments),
            *parse_json(R"({"path":"a/b","n":[2.5],"all":true,"none":null})"));
  EXPECT_TRUE(sent_back(reply).contains(R"("thoughtSignature":"s")"));
  EXPECT_TRUE(sent_back(reply).contains(R"("id":"i")"));
}

TEST(GeminiDecoder, KeepsASignatureThatComesWithALaterPieceOfACall) {
  const Reply reply = reply_to(
      chunk(R"({"functionCall":{"name":"Read","willContinue":true}})") +
      chunk(
          R"({"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"a"}],"willContinue":true},"thoughtSignature":"s1"})") +
      chunk(R"({"functionCall":{}})", "STOP"));
  ASSERT_EQ(reply.message.calls.size(), 1u);
  EXPECT_EQ(
      sent_back(reply),
      R"({"role":"model","parts":[{"functionCall":{"name":"Read","args":{"path":"a"}},"thoughtSignature":"s1"}]})");
}

TEST(GeminiDecoder, MayBeCompleteOnceThereIsAReason) {
  const auto decoder = gemini_dialect()->decoder();
  decoder->feed(chunk(R"({"text":"a"})"), {});
  EXPECT_FALSE(decoder->may_be_complete());
  decoder->feed(chunk(R"({"text":"b"})", "STOP"), {});
  EXPECT_TRUE(decoder->may_be_complete());
  EXPECT_FALSE(decoder->is_complete());
  decoder->feed(chunk(R"({"text":"c"})"), {});
  EXPECT_FALSE(decoder->may_be_complete()) << "it was not the last word";
}

TEST(GeminiDecoder, ACallWithoutItsLastPieceIsCut) {
  const std::string begun = chunk(R"({"functionCall":{"name":"Read","willContinue":true}})", "STOP");
  EXPECT_EQ(failure_of(begun).kind, Kind::transient);
  EXPECT_EQ(failure_of(chunk(R"({"functionCall":{}})", "STOP")).kind, Kind::transient);
  EXPECT_EQ(
      failure_of(chunk(R"({"functionCall":{"name":"Read","willContinue":true}})") +
                 chunk(R"({"functionCall":{"partialArgs":[{"jsonPath":"oops","stringValue":"b"}]}})", "STOP"))
          .kind,
      Kind::transient);
}

TEST(GeminiDecoder, CarriesPartsThatItDoesNotKnow) {
  const std::string_view unknown = R"({"executableCode": {"language":"PYTHON", "code":"1 + 1"}})";
  const Reply reply = reply_to(chunk(unknown) + chunk(R"({"text":"1"})", "STOP"));
  EXPECT_EQ(reply.message.text, "1");
  EXPECT_TRUE(sent_back(reply).contains(unknown));
}

TEST(GeminiDecoder, FinishReasonsAreToldApart) {
  const auto stop = [](std::string_view reason) { return reply_to(chunk(R"({"text":"x"})", reason)).stop; };
  EXPECT_EQ(stop("STOP"), ReplyStop::finished);
  EXPECT_EQ(stop("MAX_TOKENS"), ReplyStop::output_limit);
  for (const std::string_view reason :
       {"SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
        "IMAGE_SAFETY", "IMAGE_OTHER", "NO_IMAGE", "MODEL_ARMOR"}) {
    EXPECT_EQ(stop(reason), ReplyStop::refused) << reason;
  }
  EXPECT_EQ(stop("SUNSET"), ReplyStop::finished);
  for (const std::string_view reason :
       {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}) {
    EXPECT_EQ(failure_of(chunk(R"({"text":"x"})", reason)).kind, Kind::transient) << reason;
  }
}

TEST(GeminiDecoder, KeepsNoCallOfATurnThatWasCutOffOrDeclined) {
  for (const std::string_view reason : {"MAX_TOKENS", "SAFETY", "SUNSET"}) {
    const Reply reply = reply_to(chunk(R"({"text":"I look."})") + chunk(kCall, reason));
    EXPECT_TRUE(reply.message.calls.empty()) << reason;
    EXPECT_EQ(sent_back(reply), R"({"role":"model","parts":[{"text":"I look."}]})") << reason;
  }
}

TEST(GeminiDecoder, SaysWhyItWasRefused) {
  const Reply answer = reply_to(
      "data: "
      "{\"candidates\":[{\"content\":{},\"finishReason\":\"SAFETY\",\"finishMessage\":\"too\\nhot\"}]}\n\n");
  EXPECT_EQ(answer.stop, ReplyStop::refused);
  EXPECT_TRUE(answer.error.contains("(SAFETY): too hot;")) << answer.error;
  const Reply prompt = reply_to(
      "data: "
      "{\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},\"usageMetadata\":{\"promptTokenCount\":"
      "4}}\n\n");
  EXPECT_EQ(prompt.stop, ReplyStop::refused);
  EXPECT_TRUE(prompt.error.contains("PROHIBITED_CONTENT")) << prompt.error;
  EXPECT_EQ(prompt.usage.input, 4);
}

TEST(GeminiDecoder, OnlyTheLastFinishReasonCounts) {
  const std::string first = chunk(R"({"text":"a"})", "STOP");
  EXPECT_EQ(reply_to(first + chunk(R"({"text":"b"})", "STOP")).message.text, "ab");
  EXPECT_EQ(failure_of(first + chunk(R"({"text":"b"})")).kind, Kind::transient);
  EXPECT_EQ(reply_to(first + usage_chunk(R"({"promptTokenCount":3})")).usage.input, 3);
}

TEST(GeminiDecoder, CountsThoughtsAsOutputAndCachedTokensAsInput) {
  const Reply reply = reply_to(
      usage_chunk(R"({"promptTokenCount":100,"totalTokenCount":100})") + chunk(R"({"text":"x"})", "STOP") +
      usage_chunk(
          R"({"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":30,"toolUsePromptTokenCount":5})"));
  EXPECT_EQ(reply.usage, (Usage{.input = 105, .output = 37, .cache_read = 60}));
}

TEST(GeminiDecoder, AnEndWithoutAFinishReasonIsTriedAgain) {
  EXPECT_EQ(failure_of("").kind, Kind::transient);
  EXPECT_EQ(failure_of("<html></html>").kind, Kind::transient);
  EXPECT_EQ(failure_of(chunk(R"({"text":"a"})")).kind, Kind::transient);
  EXPECT_EQ(failure_of("data: nonsense\n\n").kind, Kind::transient);
  const Failure counted = failure_of(usage_chunk(R"({"promptTokenCount":3,"candidatesTokenCount":1})"));
  EXPECT_EQ(counted.usage, (Usage{.input = 3, .output = 1}));
}

TEST(GeminiDecoder, ErrorsInTheMiddleAreTyped) {
  const auto failure = [](std::string_view error) {
    return failure_of(chunk(R"({"text":"a"})") + fmt::format("data: {{\"error\":{}}}\n\n", error));
  };
  EXPECT_EQ(failure(R"({"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"})").kind,
            Kind::rate_limited);
  EXPECT_EQ(failure(R"({"code":500,"message":"Internal","status":"INTERNAL"})").kind, Kind::transient);
  EXPECT_EQ(failure(R"({"code":400,"message":"odd","status":"INVALID_ARGUMENT"})").kind, Kind::definite);
  EXPECT_EQ(
      failure(R"({"code":429,"message":"Please retry in 2.5s.","status":"RESOURCE_EXHAUSTED"})").retry_after,
      2500ms);
}

TEST(GeminiDecoder, TakesTheFirstCandidateAlone) {
  EXPECT_EQ(
      reply_to("data: {\"candidates\":[{\"index\":1,\"content\":{\"parts\":[{\"text\":\"no\"}]}},"
               "{\"index\":0,\"content\":{\"parts\":[{\"text\":\"yes\"}]},\"finishReason\":\"STOP\"}]}\n\n")
          .message.text,
      "yes");
}

std::expected<Reply, Failure> outcome_at_once(const std::string& body) {
  const auto decoder = gemini::make_decoder();
  decoder->feed(body, {});
  return decoder->finish();
}

TEST(GeminiDecoder, TakesAnAnswerUpToItsLimitsAndNoMore) {
  const auto text = [](std::size_t bytes) {
    return chunk(fmt::format(R"({{"text":"{}"}})", std::string(bytes - 1, 'x'))) +
           chunk(R"({"text":"y"})", "STOP");
  };
  EXPECT_EQ(outcome_at_once(text(api::kMostBytes))->message.text.size(), api::kMostBytes);
  EXPECT_EQ(outcome_at_once(text(api::kMostBytes + 1)).error().kind, Kind::definite);

  const auto parts = [](std::string_view part, std::size_t count) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i) body += chunk(part, "STOP");
    return body;
  };
  EXPECT_EQ(outcome_at_once(parts(kCall, api::kMostCalls))->message.calls.size(), api::kMostCalls);
  EXPECT_EQ(outcome_at_once(parts(kCall, api::kMostCalls + 1)).error().kind, Kind::definite);
  EXPECT_TRUE(outcome_at_once(parts(R"({"inlineData":{}})", gemini::kMaxParts)).has_value());
  EXPECT_EQ(outcome_at_once(parts(R"({"inlineData":{}})", gemini::kMaxParts + 1)).error().kind,
            Kind::definite);
}

}  // namespace
}  // namespace deputy
