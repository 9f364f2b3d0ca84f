#include "model/api_errors.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "model/outcome_text.h"

namespace deputy::api {
namespace {

using Kind = Failure::Kind;
using testing::HasSubstr;
using testing::Not;

constexpr WallTime kNow{std::chrono::seconds{1'800'000'000}};

Failure fail_with(int status, std::string_view body, HttpHeaders headers = {}) {
  return http_failure({.status = status, .headers = std::move(headers)}, body, kNow);
}

std::string error_with(std::string_view message) {
  return fmt::format(R"({{"error":{{"message":"{}"}}}})", message);
}

TEST(OpenAiErrors, AStatusAloneSaysWhetherItMayPass) {
  for (const int status : {408, 409, 425, 500, 502, 503, 504, 520}) {
    EXPECT_EQ(fail_with(status, "").kind, Kind::transient) << status;
  }
  for (const int status : {204, 301, 307, 400, 401, 402, 403, 404, 405, 422, 501}) {
    EXPECT_EQ(fail_with(status, "").kind, Kind::definite) << status;
  }
  EXPECT_EQ(fail_with(429, "").kind, Kind::rate_limited);
  EXPECT_EQ(fail_with(529, "").kind, Kind::rate_limited);
  EXPECT_EQ(fail_with(413, "").kind, Kind::context_exhausted);
  EXPECT_EQ(fail_with(500, "").message, "the provider answered 500: no reason given");
}

TEST(OpenAiErrors, AnOverloadIsToldFromALimitOnWhoAsks) {
  EXPECT_TRUE(fail_with(529, "").is_overload);
  EXPECT_TRUE(fail_with(503, error_with("The model is overloaded.")).is_overload);
  EXPECT_TRUE(stream_failure(error_with("Our servers are currently overloaded.")).is_overload);
  const Failure named = stream_failure(R"({"error":{"type":"overloaded_error","message":"Busy"}})");
  EXPECT_EQ(named.kind, Kind::rate_limited);
  EXPECT_TRUE(named.is_overload);
  EXPECT_FALSE(fail_with(429, error_with("The model is overloaded.")).is_overload);
  EXPECT_FALSE(fail_with(503, error_with("Too many requests, the model is overloaded.")).is_overload);
  EXPECT_FALSE(fail_with(503, "").is_overload) << "it is down";
}

TEST(OpenAiErrors, OnlyARequestThatIsRefusedForItsFormMayBePutDifferently) {
  EXPECT_TRUE(fail_with(400, error_with("messages.1: orphan tool_use")).is_malformed);
  EXPECT_TRUE(fail_with(422, error_with("bad arguments")).is_malformed);
  for (const char* body :
       {R"({"error":{"message":"pay","code":"insufficient_quota"}})", R"({"error":"Request too large"})",
        R"({"error":"tools param requires --jinja flag"})", R"({"error":"prompt is too long: 9 > 8"})"}) {
    EXPECT_FALSE(fail_with(400, body).is_malformed) << body;
  }
  for (const int status : {401, 402, 403, 404, 429, 500}) {
    EXPECT_FALSE(fail_with(status, error_with("no")).is_malformed) << status;
  }
  // It is about the same request once more: Anthropic says "false" of a 400.
  EXPECT_TRUE(fail_with(400, error_with("no"), {{"x-should-retry", "false"}}).is_malformed);
  EXPECT_FALSE(fail_with(400, error_with("no"), {{"x-should-retry", "true"}}).is_malformed);
  EXPECT_FALSE(fail_with(500, error_with("no"), {{"x-should-retry", "false"}}).is_malformed);
}

TEST(OpenAiErrors, ContextExhaustionIsKnownInEveryServersWords) {
  for (const char* message :
       {"the input length exceeds the context length",                                   // Ollama
        "Trying to keep the first 9000 tokens when context the overflows. However, …",   // LM Studio
        "Reached context length of 4096 tokens with this model",                         // LM Studio, older
        "Context size has been exceeded.",                                               // llama.cpp
        "the request exceeds the available context size. try increasing it",             // llama.cpp
        "This model's maximum context length is 8192 tokens. However, you requested …",  // vLLM
        "The input (9000 tokens) is longer than the model's context length (8192).",     // SGLang
        "This endpoint's maximum context length is 200000 tokens.",                      // OpenRouter
        "prompt is too long: 210000 tokens > 200000 maximum"}) {
    EXPECT_EQ(fail_with(400, error_with(message)).kind, Kind::context_exhausted) << message;
    EXPECT_EQ(stream_failure(error_with(message)).kind, Kind::context_exhausted) << message;
    EXPECT_EQ(fail_with(401, error_with(message)).kind, Kind::definite) << "no matter what a 401 says";
  }
  EXPECT_EQ(fail_with(400, R"({"error":"the input length exceeds the context length"})").kind,
            Kind::context_exhausted);
  EXPECT_EQ(fail_with(500, R"({"error":"the input length exceeds the context length"})").kind,
            Kind::context_exhausted);
  EXPECT_EQ(fail_with(400, R"({"error":{"code":"context_length_exceeded","message":""}})").kind,
            Kind::context_exhausted);
  EXPECT_EQ(
      fail_with(400, R"({"error_type":"TOO_MANY_TOKENS","message":"too many tokens: size limit"})").kind,
      Kind::context_exhausted);
  EXPECT_EQ(fail_with(400, error_with("the context of this message is unclear")).kind, Kind::definite);
}

TEST(OpenAiErrors, WhatTheProviderBehindOpenRouterSaidIsReadToo) {
  const Failure failure = fail_with(
      400,
      R"({"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}})");
  EXPECT_EQ(failure.kind, Kind::context_exhausted);
  EXPECT_THAT(failure.message, HasSubstr("prompt is too long"));
}

TEST(OpenAiErrors, AnEmptyPurseIsNoRateLimit) {
  const std::string quota = R"({"error":{"message":"quota","type":"insufficient_quota","code":null}})";
  EXPECT_EQ(fail_with(429, quota, {{"retry-after", "5"}}).kind, Kind::definite);
  EXPECT_EQ(fail_with(429, quota, {{"retry-after", "5"}}).retry_after, std::nullopt);
  EXPECT_EQ(fail_with(429, quota, {{"x-should-retry", "true"}}).kind, Kind::definite);
  EXPECT_EQ(fail_with(402, error_with("no credits")).kind, Kind::definite);
  EXPECT_EQ(fail_with(429, error_with("Rate limit exceeded: free-models-per-day")).kind, Kind::definite);
  EXPECT_EQ(fail_with(429, error_with("Request too large for gpt-4o")).kind, Kind::definite);
}

TEST(OpenAiErrors, TheHeaderThatSaysWhetherToRetryDecides) {
  EXPECT_EQ(fail_with(500, "", {{"x-should-retry", "false"}}).kind, Kind::definite);
  EXPECT_EQ(fail_with(429, "", {{"x-should-retry", "false"}}).kind, Kind::definite);
  EXPECT_EQ(fail_with(400, "", {{"x-should-retry", "true"}}).kind, Kind::transient);
  EXPECT_EQ(fail_with(413, "", {{"x-should-retry", "true"}}).kind, Kind::context_exhausted);
}

TEST(OpenAiErrors, TheWaitComesFromWhoeverNamesIt) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  EXPECT_EQ(fail_with(429, error_with("Please try again in 174ms.")).retry_after, milliseconds(174));
  EXPECT_EQ(fail_with(429, error_with("Please try again in 6m0s. Visit")).retry_after, seconds(360));
  EXPECT_EQ(fail_with(429, error_with("Please retry after 20 seconds.")).retry_after, seconds(20));
  EXPECT_EQ(fail_with(429, error_with("try again in a while")).retry_after, std::nullopt);
  EXPECT_EQ(fail_with(429, error_with("try again in 9s"), {{"retry-after", "2"}}).retry_after, seconds(2));
  EXPECT_EQ(fail_with(503, "", {{"retry-after", "7"}}).retry_after, seconds(7));
  EXPECT_EQ(fail_with(400, "", {{"retry-after", "7"}}).retry_after, std::nullopt);
  const HttpHeaders limits{{"x-ratelimit-remaining-requests", "0"},
                           {"x-ratelimit-reset-requests", "1s"},
                           {"x-ratelimit-remaining-tokens", "0"},
                           {"x-ratelimit-reset-tokens", "6m0s"}};
  EXPECT_EQ(fail_with(429, "", limits).retry_after, seconds(360)) << "the later of what is used up";
  EXPECT_EQ(fail_with(429, "", {{"x-ratelimit-remaining-tokens", "9"}, {"x-ratelimit-reset-tokens", "6m0s"}})
                .retry_after,
            std::nullopt);
  const auto reset_at = [](std::string_view time) {
    return fail_with(429, fmt::format(R"({{"error":{{"code":429,"message":"Rate limit exceeded","metadata":
                                      {{"headers":{{"X-RateLimit-Reset":"{}"}}}}}}}})",
                                      time))
        .retry_after;
  };
  EXPECT_EQ(reset_at("1800000005000"), seconds(5));
  EXPECT_EQ(reset_at("1700000000000"), seconds(0));
  EXPECT_EQ(reset_at("9000000000000"), std::chrono::hours(365 * 24));
  EXPECT_EQ(reset_at("99999999999999999"), std::nullopt);
}

TEST(OpenAiErrors, NoKeyIsRepeated) {
  for (const char* message :
       {"Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwxyz012345. You can find it",
        "Incorrect API key provided: sk-pr********************2345. You can find it",
        "Incorrect API key provided: my-own-key. You can find it"}) {
    const Failure failure = fail_with(401, error_with(message));
    EXPECT_EQ(
        failure.message,
        "the provider answered 401: Incorrect API key provided: [redacted]. You can find it; check the key");
  }
  const std::string long_message = std::string(290, 'a') + " sk-proj-abcdefghijklmnopqrstuvwxyz012345";
  EXPECT_THAT(fail_with(401, error_with(long_message)).message, Not(HasSubstr("sk-proj")))
      << "nor the first half of one, where the message is cut";
}

TEST(OpenAiErrors, AMessageIsOneShortLine) {
  const Failure failure = fail_with(400, error_with("one\\ntwo\\u2028" + std::string(100'000, 'x')));
  EXPECT_THAT(failure.message, HasSubstr("one two"));
  EXPECT_LE(utf8_length(failure.message), 340U);
  EXPECT_TRUE(is_utf8(fail_with(400, "\xff\xfe broken").message));
}

TEST(OpenAiErrors, EveryShapeIsRead) {
  const std::string said = "the provider answered 500: boom";
  for (const char* body : {R"({"error":{"message":"boom"}})", R"({"error":"boom"})", R"({"message":"boom"})",
                           R"({"object":"error","message":"boom","code":500})", R"({"detail":"boom"})",
                           R"([{"error":{"message":"boom"}}])", "boom", "  boom\n"}) {
    EXPECT_EQ(fail_with(500, body).message, said) << body;
  }
  EXPECT_EQ(fail_with(502, "<!DOCTYPE html><HTML><head><title>502\nBad Gateway</title></head>").message,
            "the provider answered 502: a web page, \"502 Bad Gateway\"");
  EXPECT_EQ(fail_with(502, "<html>").message, "the provider answered 502: a web page");
  EXPECT_EQ(fail_with(500, R"({"strange":1})").message, R"(the provider answered 500: {"strange":1})");
}

TEST(OpenAiErrors, AnErrorOfAnAnswerThatSaysAllIsWellIsReadForWhatItIs) {
  EXPECT_EQ(fail_with(200, R"({"error":{"code":429,"message":"slow"}})").kind, Kind::rate_limited);
  EXPECT_EQ(fail_with(200, R"({"error":{"code":502,"message":"Bad gateway"}})").kind, Kind::transient);
  EXPECT_EQ(fail_with(200, R"({"error":{"code":401,"message":"who"}})").kind, Kind::definite);
  EXPECT_EQ(fail_with(200, error_with("This model's maximum context length is 8192 tokens.")).kind,
            Kind::context_exhausted);
  EXPECT_EQ(fail_with(200, R"({"error":{"type":"invalid_request_error","message":"no"}})").kind,
            Kind::definite);
  EXPECT_EQ(fail_with(500, R"({"error":{"code":400,"message":"no"}})").kind, Kind::transient)
      << "else the answer's status counts";
}

TEST(OpenAiErrors, AFailureInsideAStreamThatNamesOnlyACodeIsReadByIt) {
  for (const char* code : {"invalid_prompt", "invalid_image_url", "unsupported_image_media_type",
                           "image_too_large", "model_not_found", "empty_image_file"}) {
    EXPECT_EQ(stream_failure(fmt::format(R"({{"code":"{}","message":"no"}})", code)).kind, Kind::definite)
        << code;
  }
  for (const char* code : {"server_error", "vector_store_timeout", "failed_to_download_image", ""}) {
    EXPECT_EQ(stream_failure(fmt::format(R"({{"code":"{}","message":"no"}})", code)).kind, Kind::transient)
        << code;
  }
}

TEST(OpenAiErrors, ACallThatTheServerRefusedIsAskedForOnceMore) {
  const Failure failure = fail_with(400, R"({"error":{"code":"tool_use_failed","message":"no call"}})");
  EXPECT_EQ(failure.kind, Kind::transient);
  EXPECT_EQ(failure.most_attempts, 2);
}

TEST(OpenAiErrors, AnErrorInsideAStreamMayNameItsStatus) {
  EXPECT_EQ(stream_failure(R"({"error":{"code":429,"message":"slow"}})").kind, Kind::rate_limited);
  EXPECT_EQ(stream_failure(R"({"error":{"code":502,"message":"Bad gateway"}})").kind, Kind::transient);
  EXPECT_EQ(stream_failure(R"({"error":{"code":400,"message":"no"}})").kind, Kind::definite);
  EXPECT_EQ(stream_failure(R"({"error":{"type":"invalid_request_error","message":"no"}})").kind,
            Kind::definite);
  EXPECT_EQ(stream_failure(R"({"error":{"type":"server_error","message":"oh"}})").kind, Kind::transient);
  EXPECT_EQ(stream_failure(R"({"code":"server_error","message":"oh"})").kind, Kind::transient);
  EXPECT_EQ(
      stream_failure(R"({"code":"rate_limit_exceeded","message":"Please try again in 2s."})").retry_after,
      std::chrono::seconds(2));
}

}  // namespace
}  // namespace deputy::api
