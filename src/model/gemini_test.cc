#include "model/gemini.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json_string.h"
#include "model/ten_steps.h"
#include "support/golden.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;
using Kind = Failure::Kind;

std::string encoded(const Message& message) { return gemini_dialect()->encode(message); }

TEST(GeminiDialect, EncodesTextAndResults) {
  EXPECT_EQ(encoded({.role = Role::user, .text = "say \"hi\"\n"}),
            R"({"role":"user","parts":[{"text":"say \"hi\"\n"}]})");
  EXPECT_EQ(
      encoded({.role = Role::tool,
               .results =
                   {{.call_id = "x7", .content = "a", .name = "Read"},
                    {.call_id = "local_r_2", .status = ToolStatus::error, .content = "b", .name = "List"}}}),
      R"({"role":"user","parts":[{"functionResponse":{"name":"Read","id":"x7","response":{"output":"a"}}},)"
      R"({"functionResponse":{"name":"List","response":{"error":"b"}}}]})");
  EXPECT_EQ(encoded({.role = Role::user}), R"J({"role":"user","parts":[{"text":"(no text)"}]})J");
}

TEST(GeminiDialect, BuildsATurnOfAnotherProviderWithAPlaceholderSignature) {
  const Message message{.role = Role::assistant,
                        .text = "I look.",
                        .calls = {{.id = "toolu_1", .name = "Read", .arguments = R"({"path": "a"})"},
                                  {.id = "toolu_2", .name = "Read", .arguments = "{oops"}},
                        .wire = "anthropic\n{}"};
  const std::string fragment = encoded(message);
  const auto turn = parse_json_object(fragment);
  ASSERT_TRUE(turn.has_value()) << fragment;
  const json::array& parts = *array_at(*turn, "parts");
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0], (json::value{{"text", "I look."}}));
  EXPECT_EQ(parts[1].at("thoughtSignature"), "skip_thought_signature_validator");
  EXPECT_EQ(parts[1].at("functionCall").at("id"), "toolu_1");
  EXPECT_FALSE(parts[2].as_object().contains("thoughtSignature"));
  EXPECT_TRUE(parts[2].at("functionCall").at("args").is_object());
  EXPECT_TRUE(
      encoded({.role = Role::tool, .results = {{.call_id = "toolu_1", .content = "x", .name = "Read"}}})
          .contains(R"("name":"Read","id":"toolu_1")"));
}

TEST(GeminiDialect, SendsItsOwnTurnBackAsItCame) {
  EXPECT_EQ(
      encoded({.role = Role::assistant, .text = "x", .wire = "gemini\n{\"role\":\"model\", \"parts\":[]}"}),
      "{\"role\":\"model\", \"parts\":[]}");
}

TEST(GeminiDialect, AddressesTheModel) {
  const HttpRequest request = gemini_dialect()->address(ModelName("gemini/gemini-2.5-flash"),
                                                        {.base_url = "https://g.example", .key = "AIza1"});
  EXPECT_EQ(request.url, "https://g.example/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  EXPECT_EQ(find_header(request.headers, "x-goog-api-key"), "AIza1");
  EXPECT_EQ(gemini_dialect()->address(ModelName("gemini/a?b#c d"), {.base_url = "https://g"}).url,
            "https://g/v1beta/models/a%3Fb%23c%20d:streamGenerateContent?alt=sse");
}

Failure failure(int status, std::string_view body, HttpHeaders headers = {}) {
  return gemini_dialect()->failure({.status = status, .headers = std::move(headers)}, body, WallTime{});
}

std::string error_body(int code, std::string_view status, std::string_view message,
                       std::string_view details = "") {
  return fmt::format(R"({{"error":{{"code":{},"message":{},"status":"{}","details":[{}]}}}})", code,
                     json_string(message), status, details);
}

TEST(GeminiDialect, TellsErrorsApart) {
  EXPECT_EQ(failure(400, error_body(400, "INVALID_ARGUMENT", "odd")).kind, Kind::definite);
  EXPECT_EQ(
      failure(400, error_body(400, "INVALID_ARGUMENT",
                              "The input token count (9) exceeds the maximum number of tokens allowed (8)."))
          .kind,
      Kind::context_exhausted);
  EXPECT_EQ(failure(400, error_body(400, "INVALID_ARGUMENT",
                                    "Request payload size exceeds the limit: 20971520 bytes."))
                .kind,
            Kind::context_exhausted);
  EXPECT_EQ(failure(403, error_body(403, "PERMISSION_DENIED", "no")).kind, Kind::definite);
  EXPECT_EQ(failure(404, error_body(404, "NOT_FOUND", "no model")).kind, Kind::definite);
  EXPECT_EQ(failure(429, error_body(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted")).kind,
            Kind::rate_limited);
  EXPECT_EQ(failure(500, error_body(500, "INTERNAL", "x")).kind, Kind::transient);
  EXPECT_EQ(
      failure(503, error_body(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")).kind,
      Kind::rate_limited);
  EXPECT_EQ(failure(504, error_body(504, "DEADLINE_EXCEEDED", "x")).kind, Kind::transient);
  EXPECT_EQ(failure(502, "<html><title>Error 502</title></html>").kind, Kind::transient);
}

TEST(GeminiDialect, ABadKeyIsDefiniteThoughItsStatusIsAnother) {
  const Failure told =
      failure(400, error_body(400, "INVALID_ARGUMENT", "API key expired.", R"({"reason":"API_KEY_INVALID"})"),
              {{"x-should-retry", "true"}});
  EXPECT_EQ(told.kind, Kind::definite);
  EXPECT_TRUE(told.message.ends_with("; check the key")) << told.message;
}

TEST(GeminiDialect, TakesTheLongestOfTheWaitsThatItIsTold) {
  const auto wait = [](std::string_view message, std::string_view delay, HttpHeaders headers = {}) {
    return failure(
               429,
               error_body(429, "RESOURCE_EXHAUSTED", message, fmt::format(R"({{"retryDelay":"{}"}})", delay)),
               std::move(headers))
        .retry_after;
  };
  EXPECT_EQ(wait("x", "34.4s"), 34400ms);
  EXPECT_EQ(wait("x", "340ms"), 340ms);
  EXPECT_EQ(wait("Please retry in 48.5s.", "48s"), 48500ms);
  EXPECT_EQ(wait("x", "2s", {{"retry-after", "7"}}), 7s);
  EXPECT_EQ(wait("x", "forever"), std::nullopt);
  EXPECT_EQ(wait("x", "99999s"), 99999s);
}

TEST(GeminiDialect, DoesNotWaitForAQuotaOfTheDay) {
  const auto quota = [](std::string_view id, std::string_view value) {
    return failure(
        429,
        error_body(
            429, "RESOURCE_EXHAUSTED", "quota",
            fmt::format(R"({{"violations":[{{"quotaId":"{}","quotaValue":"{}"}}]}},{{"retryDelay":"9s"}})",
                        id, value)));
  };
  const Failure day = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "50");
  EXPECT_EQ(day.kind, Kind::definite);
  EXPECT_EQ(day.retry_after, std::nullopt);
  EXPECT_TRUE(day.message.contains("today")) << day.message;
  EXPECT_EQ(quota("GenerateRequestsPerMinutePerProjectPerModel", "0").kind, Kind::definite);
  const Failure minute = quota("GenerateRequestsPerMinutePerProjectPerModel", "5");
  EXPECT_EQ(minute.kind, Kind::rate_limited);
  EXPECT_EQ(minute.retry_after, 9s);
}

// The model's turns as the API streams them. Its calls are objects: one that is no JSON cannot come.
std::string stream_of(const ScriptedTurn& turn, int n) {
  std::string stream;
  const auto say = [&](std::string_view part) {
    stream += fmt::format(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{}],\"role\":\"model\"}},\"index\":0}}],"
        "\"responseId\":\"resp{}\"}}\r\n\r\n",
        part, n);
  };
  if (!turn.thinking.empty()) say(fmt::format(R"({{"text":{},"thought":true}})", json_string(turn.thinking)));
  if (!turn.text.empty()) say(fmt::format(R"({{"text":{}}})", json_string(turn.text)));
  for (int i = 0; const Call& call : turn.calls) {
    const std::string id = n % 2 == 0 ? fmt::format(R"(,"id":"id{}{}")", n, i) : "";
    const std::string signature = i++ == 0 ? fmt::format(R"(,"thoughtSignature":"c2ln{}==")", n) : "";
    const bool is_object = parse_json_object(call.arguments).has_value();
    const std::string arguments = is_object ? fmt::format(R"(,"args":{})", call.arguments) : "";
    say(fmt::format(R"({{"functionCall":{{"name":"{}"{}{}}}{}}})", call.name, arguments, id, signature));
  }
  return stream +
         "data: "
         "{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9}}\r\n\r\n";
}

TEST(GeminiDialect, TenStepsAreAskedAsWrittenDown) {
  const auto dialect = gemini_dialect();
  const PlayedSteps played = play(*dialect, ten_steps_prefix("gemini/gemini-2.5-pro"), "Explore.", stream_of);
  expect_growing(played);
  expect_golden("gemini_ten_steps.jsonl", one_a_line(played));
}

TEST(GeminiDialect, SiblingsShareTheirPrefixByteForByte) {
  const auto dialect = gemini_dialect();
  const RequestPrefix prefix = ten_steps_prefix("gemini/gemini-2.5-pro");
  const PlayedSteps one = play(*dialect, prefix, "Explore.", stream_of);
  const PlayedSteps other = play(*dialect, prefix, "Look elsewhere.", stream_of);
  const std::string head = dialect->encode(prefix).head;
  for (std::size_t i = 0; i < one.bodies.size(); ++i) {
    EXPECT_TRUE(one.bodies[i].starts_with(head) && other.bodies[i].starts_with(head));
  }
}

}  // namespace
}  // namespace deputy
