#include "model/anthropic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json_string.h"
#include "model/ten_steps.h"
#include "support/golden.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;
using Kind = Failure::Kind;

const Message kForeignTurn{
    .role = Role::assistant,
    .text = "I look.",
    .thinking = "secret",
    .calls = {{.id = "functions.Read:0", .name = "Read", .arguments = R"({"path": "a"})"},
              {.id = "call_2", .name = "Read", .arguments = "{oops"}},
    .wire = "gemini\n{\"role\":\"model\",\"parts\":[]}"};

std::string encoded(const Message& message) { return anthropic_dialect()->encode(message); }

TEST(AnthropicDialect, EncodesTextAndResults) {
  EXPECT_EQ(encoded({.role = Role::user, .text = "say \"hi\"\n"}),
            R"({"role":"user","content":[{"type":"text","text":"say \"hi\"\n"}]})");
  EXPECT_EQ(encoded({.role = Role::tool,
                     .results = {{.call_id = "1", .content = "a"},
                                 {.call_id = "2", .status = ToolStatus::error, .content = "b"}}}),
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"},)"
            R"({"type":"tool_result","tool_use_id":"2","content":"b","is_error":true}]})");
}

TEST(AnthropicDialect, SendsNothingBlankThatTheApiRefuses) {
  EXPECT_EQ(encoded({.role = Role::user, .text = " \n"}),
            R"J({"role":"user","content":[{"type":"text","text":"(no text)"}]})J");
  EXPECT_EQ(encoded({.role = Role::assistant}),
            R"J({"role":"assistant","content":[{"type":"text","text":"(no text)"}]})J");
  EXPECT_EQ(encoded({.role = Role::tool,
                     .results = {{.call_id = "1"}, {.call_id = "2", .status = ToolStatus::error}}}),
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":""},)"
            R"({"type":"tool_result","tool_use_id":"2","content":"it failed","is_error":true}]})");
}

TEST(AnthropicDialect, BuildsATurnOfAnotherProviderFromTextAndCalls) {
  const std::string fragment = encoded(kForeignTurn);
  const auto turn = parse_json_object(fragment);
  ASSERT_TRUE(turn.has_value()) << fragment;
  const json::array& blocks = *array_at(*turn, "content");
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0], (json::value{{"type", "text"}, {"text", "I look."}}));
  EXPECT_TRUE(fragment.contains(R"("input":{"path": "a"})"));
  EXPECT_TRUE(blocks[2].at("input").is_object());
  const std::string id = string_or(blocks[1].as_object(), "id", "");
  EXPECT_TRUE(id.starts_with("functions_Read_0_")) << id;
  // The result finds its call under the same name.
  EXPECT_TRUE(encoded({.role = Role::tool, .results = {{.call_id = "functions.Read:0", .content = "x"}}})
                  .contains("\"tool_use_id\":\"" + id + "\""));
}

TEST(AnthropicDialect, SendsItsOwnTurnBackAsItCame) {
  Message message = kForeignTurn;
  message.wire = "anthropic\n{\"role\":\"assistant\",  \"content\":[]}";
  EXPECT_EQ(encoded(message), "{\"role\":\"assistant\",  \"content\":[]}");
}

TEST(AnthropicDialect, MarksTheLastStableBlockAndTheWholeRequestForTheCache) {
  constexpr std::string_view kCached = R"("cache_control":{"type":"ephemeral"})";
  const std::string ending = fmt::format(R"(,{},"messages":[)", kCached);
  RequestPrefix prefix = ten_steps_prefix("anthropic/claude-sonnet-4-5");
  const EncodedPrefix whole = anthropic_dialect()->encode(prefix);
  EXPECT_TRUE(whole.head.contains(
      fmt::format(R"("text":"You explore.\nSay \"done\" at the end.",{}}}]{})", kCached, ending)))
      << whole.head;
  EXPECT_EQ(whole.tail, "]}");

  prefix.system.clear();
  const EncodedPrefix bare = anthropic_dialect()->encode(prefix);
  EXPECT_TRUE(
      bare.head.contains(fmt::format(R"("input_schema":{{"type":"object"}},{}}}]{})", kCached, ending)))
      << bare.head;
  prefix.tools.clear();
  EXPECT_EQ(anthropic_dialect()->encode(prefix).head,
            R"({"model":"claude-sonnet-4-5","max_tokens":2048,"stream":true)" + ending);
}

TEST(AnthropicDialect, ASchemaThatIsNotInBracesStandsForAnyArguments) {
  RequestPrefix prefix = ten_steps_prefix("anthropic/x");
  prefix.tools = {{.name = "T", .description = "d", .schema = "{oops"}};
  const EncodedPrefix encoded_prefix = anthropic_dialect()->encode(prefix);
  EXPECT_TRUE(parse_json_object(encoded_prefix.head + encoded({.role = Role::user, .text = "x"}) +
                                encoded_prefix.tail));
}

TEST(AnthropicDialect, ASchemaIsSentWithoutItsLineBreaks) {
  RequestPrefix prefix = ten_steps_prefix("anthropic/x");
  prefix.tools = {{.name = "T",
                   .description = "d",
                   .schema = "\n{\r\n\t\"type\":\"object\",\n\"description\":\"two  words\"\n} \n"}};
  EXPECT_TRUE(anthropic_dialect()->encode(prefix).head.contains(
      R"("input_schema":{"type":"object","description":"two  words"}})"));
}

TEST(AnthropicDialect, AddressesTheMessagesEndpoint) {
  const HttpRequest request = anthropic_dialect()->address(
      ModelName("anthropic/claude-opus-4-6"), {.base_url = "https://api.example", .key = "sk-1"});
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://api.example/v1/messages");
  EXPECT_EQ(find_header(request.headers, "x-api-key"), "sk-1");
  EXPECT_EQ(find_header(request.headers, "anthropic-version"), "2023-06-01");
  EXPECT_EQ(find_header(request.headers, "content-type"), "application/json");
  const HttpRequest without =
      anthropic_dialect()->address(ModelName("anthropic/x"), {.base_url = "http://127.0.0.1:1"});
  EXPECT_EQ(find_header(without.headers, "x-api-key"), std::nullopt);
}

Failure failure(int status, std::string_view body, HttpHeaders headers = {}) {
  return anthropic_dialect()->failure({.status = status, .headers = std::move(headers)}, body, WallTime{});
}

std::string error_body(std::string_view type, std::string_view message) {
  return fmt::format(R"({{"type":"error","error":{{"type":"{}","message":{}}},"request_id":null}})", type,
                     json_string(message));
}

TEST(AnthropicDialect, TellsErrorsApart) {
  EXPECT_EQ(failure(400, error_body("invalid_request_error",
                                    "messages.2: `tool_use` ids were found without `tool_result`"))
                .kind,
            Kind::definite);
  EXPECT_EQ(
      failure(400, error_body("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum")).kind,
      Kind::context_exhausted);
  EXPECT_EQ(failure(413, error_body("request_too_large", "Request exceeds the maximum size")).kind,
            Kind::context_exhausted);
  EXPECT_EQ(failure(401, error_body("authentication_error", "invalid x-api-key")).kind, Kind::definite);
  EXPECT_EQ(failure(402, error_body("billing_error", "no credit")).kind, Kind::definite);
  EXPECT_EQ(failure(403, error_body("permission_error", "no")).kind, Kind::definite);
  EXPECT_EQ(failure(404, error_body("not_found_error", "model: x")).kind, Kind::definite);
  EXPECT_EQ(failure(408, "").kind, Kind::transient);
  EXPECT_EQ(failure(409, "").kind, Kind::transient);
  EXPECT_EQ(failure(429, error_body("rate_limit_error", "slow down"), {{"retry-after", "3"}}).retry_after,
            3s);
  EXPECT_EQ(failure(429, error_body("rate_limit_error", "slow down")).kind, Kind::rate_limited);
  EXPECT_EQ(failure(500, error_body("api_error", "Internal server error")).kind, Kind::transient);
  EXPECT_EQ(failure(504, error_body("timeout_error", "late")).kind, Kind::transient);
  EXPECT_EQ(failure(529, error_body("overloaded_error", "Overloaded")).kind, Kind::rate_limited);
  EXPECT_EQ(failure(307, "", {{"location", "https://elsewhere"}}).kind, Kind::definite);
}

TEST(AnthropicDialect, ObeysTheHeaderThatSaysWhetherToTryAgain) {
  EXPECT_EQ(failure(500, error_body("api_error", "no"), {{"x-should-retry", "false"}}).kind, Kind::definite);
  EXPECT_EQ(failure(400, error_body("invalid_request_error", "odd"), {{"x-should-retry", "true"}}).kind,
            Kind::transient);
  // It cannot make a conversation fit.
  EXPECT_EQ(failure(400, error_body("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"),
                    {{"x-should-retry", "false"}})
                .kind,
            Kind::context_exhausted);
}

TEST(AnthropicDialect, ReadsErrorsThatAreNoJson) {
  const Failure page =
      failure(502, "<html>\n<head><TITLE>502 Bad\nGateway</TITLE></head><body>x</body></html>");
  EXPECT_EQ(page.kind, Kind::transient);
  EXPECT_TRUE(page.message.contains("502 Bad Gateway")) << page.message;
  EXPECT_FALSE(page.message.contains('<'));
  EXPECT_EQ(failure(503, "").kind, Kind::transient);
  EXPECT_FALSE(failure(503, "").message.empty());
}

TEST(AnthropicDialect, ErrorMessagesAreShortAndWithoutKeys) {
  const Failure told =
      failure(401, error_body("authentication_error",
                              "invalid x-api-key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n" +
                                  std::string(9000, 'x')));
  EXPECT_FALSE(told.message.contains("abcdefghijklmnop")) << told.message;
  EXPECT_FALSE(told.message.contains('\n'));
  EXPECT_LE(told.message.size(), 400U);
}

// The model's turns as the API streams them.
std::string stream_of(const ScriptedTurn& turn, int n) {
  std::string stream;
  int index = 0;
  const auto say = [&](const std::string& json) { stream += "data: " + json + "\n\n"; };
  const auto block = [&](std::string_view content, const std::vector<std::string>& deltas) {
    say(fmt::format(R"({{"type":"content_block_start","index":{},"content_block":{}}})", index, content));
    for (const std::string& delta : deltas) {
      say(fmt::format(R"({{"type":"content_block_delta","index":{},"delta":{}}})", index, delta));
    }
    say(fmt::format(R"({{"type":"content_block_stop","index":{}}})", index++));
  };
  say(fmt::format(R"({{"type":"message_start","message":{{"id":"msg_{}","usage":{{"input_tokens":9}}}}}})",
                  n));
  if (!turn.thinking.empty()) {
    block(R"({"type":"thinking","thinking":"","signature":""})",
          {fmt::format(R"({{"type":"thinking_delta","thinking":{}}})", json_string(turn.thinking)),
           fmt::format(R"({{"type":"signature_delta","signature":"c2ln{}=="}})", n)});
  }
  if (n == 6) block(R"({"type":"redacted_thinking","data":"sealed+/=="})", {});
  if (!turn.text.empty()) {
    block(R"({"type":"text","text":""})",
          {fmt::format(R"({{"type":"text_delta","text":{}}})", json_string(turn.text))});
  }
  for (int i = 0; const Call& call : turn.calls) {
    block(
        fmt::format(
            R"({{"type":"tool_use","id":"toolu_{}{}","name":"{}","input":{{}},"caller":{{"type":"direct"}}}})",
            n, i++, call.name),
        {fmt::format(R"({{"type":"input_json_delta","partial_json":{}}})", json_string(call.arguments))});
  }
  say(fmt::format(
      R"({{"type":"message_delta","delta":{{"stop_reason":"{}"}},"usage":{{"output_tokens":5}}}})",
      turn.calls.empty() ? "end_turn" : "tool_use"));
  say(R"({"type":"message_stop"})");
  return stream;
}

TEST(AnthropicDialect, TenStepsAreAskedAsWrittenDown) {
  const auto dialect = anthropic_dialect();
  const PlayedSteps played =
      play(*dialect, ten_steps_prefix("anthropic/claude-sonnet-4-5"), "Explore.", stream_of);
  expect_growing(played);
  expect_golden("anthropic_ten_steps.jsonl", one_a_line(played));
}

TEST(AnthropicDialect, SiblingsShareTheirPrefixByteForByte) {
  const auto dialect = anthropic_dialect();
  const RequestPrefix prefix = ten_steps_prefix("anthropic/claude-sonnet-4-5");
  const PlayedSteps one = play(*dialect, prefix, "Explore.", stream_of);
  const PlayedSteps other = play(*dialect, prefix, "Look elsewhere.", stream_of);
  const std::string head = dialect->encode(prefix).head;
  for (std::size_t i = 0; i < one.bodies.size(); ++i) {
    EXPECT_TRUE(one.bodies[i].starts_with(head) && other.bodies[i].starts_with(head));
  }
}

}  // namespace
}  // namespace deputy
