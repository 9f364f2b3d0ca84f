// Recorded traffic of the Messages API; what each answer must come to was worked out apart from the decoder.
#include <gtest/gtest.h>

#include "model/anthropic.h"
#include "model/fixture_expectation.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;
using Kind = Failure::Kind;

const std::vector<ExpectedReply>& replies() {
  static const std::vector<ExpectedReply> kReplies{
      {.name = "anthropic/cache-read.sse",
       .text = "Hi.",
       .usage = {.input = 5761, .output = 5, .cache_read = 5752}},
      {.name = "anthropic/cache-write.sse",
       .text = "Hi.",
       .usage = {.input = 5761, .output = 5, .cache_write = 5752}},
      {.name = "anthropic/compaction-stream.sse",
       .text = "The text consists entirely of the letter",
       .bytes = 100,
       .crc = 0xf8ad4027,
       .usage = {.input = 224, .output = 22}},
      {.name = "anthropic/consecutive-roles-accepted.sse",
       .text = "The weather in Paris is currently 72°F.",
       .usage = {.input = 638, .output = 14}},
      {.name = "anthropic/context-editing-clear-tool-uses.sse",
       .text = "\n\nHere's a comparison of the weather in ",
       .bytes = 444,
       .crc = 0xe037c94f,
       .usage = {.input = 859, .output = 122}},
      {.name = "anthropic/server-tool-search-then-client-tool.sse",
       .stop = ReplyStop::calls,
       .text = "Let me search for a tool that can provid",
       .bytes = 158,
       .crc = 0x548ac553,
       .calls = {{"toolu_01EFn5wTNBYA8Reni8rbmnHT", "get_exchange_rate",
                  R"({"from_currency": "USD", "to_currency": "EUR"})"}},
       .usage = {.input = 1591, .output = 175}},
      {.name = "anthropic/server-web-search-citations.sse",
       .text = "The latest stable Ruby version is 4.0.6,",
       .bytes = 73,
       .crc = 0xb4d0bbab,
       .usage = {.input = 9447, .output = 114}},
      {.name = "anthropic/spliced-message-start.sse",
       .stop = ReplyStop::calls,
       .thinking_bytes = 21,
       .calls = {{"toolu_second", "test-tool", R"({"value":"Sparkle Day"})"}},
       .usage = {.input = 17, .output = 65}},
      {.name = "anthropic/stop-max-tokens-after-thinking.sse",
       .stop = ReplyStop::output_limit,
       .text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n1",
       .bytes = 1887,
       .crc = 0x7c10c814,
       .thinking_bytes = 64,
       .usage = {.input = 61, .output = 1025}},
      {.name = "anthropic/stop-max-tokens.sse",
       .stop = ReplyStop::output_limit,
       .text = "# The Ocean: Earth's Vast",
       .usage = {.input = 31, .output = 8}},
      {.name = "anthropic/stop-refusal-after-tool.sse",
       .stop = ReplyStop::refused,
       .text = "Here's a summary of this year's solar eclipses and how",
       .usage = {.input = 28, .output = 106}},
      {.name = "anthropic/stop-refusal-stream.sse",
       .stop = ReplyStop::refused,
       .text = "Hi",
       .thinking_bytes = 216,
       .usage = {.input = 28, .output = 106}},
      {.name = "anthropic/thinking-adaptive-opus.sse",
       .text = "## Setting Up the Problem\n\n- **Train A**",
       .bytes = 899,
       .crc = 0xd20ad167,
       .usage = {.input = 102, .output = 630}},
      {.name = "anthropic/thinking-omitted-signature-only.sse",
       .text = "The task asks \"What's 2+2?\" — a trivial ",
       .bytes = 192,
       .crc = 0x0dc5d1e9,
       .usage = {.input = 2411, .output = 145}},
      {.name = "anthropic/thinking-redacted-2.sse",
       .text = "I notice that you've sent what appears t",
       .bytes = 359,
       .crc = 0x2d3d8d38,
       .usage = {.input = 92, .output = 189}},
      {.name = "anthropic/thinking-redacted.sse",
       .text = "I notice you've sent what appears to be ",
       .bytes = 396,
       .crc = 0x7d83109c,
       .usage = {.input = 92, .output = 255}},
      {.name = "anthropic/thinking-text.sse",
       .text = "I'd ask: **\"What would you say if I aske",
       .bytes = 1263,
       .crc = 0xbd145f84,
       .thinking_bytes = 1476,
       .usage = {.input = 80, .output = 638}},
      {.name = "anthropic/thinking-then-tool.sse",
       .stop = ReplyStop::calls,
       .thinking_bytes = 301,
       .calls = {{"toolu_01Js4AMfx5qpTLhwTusnvT68", "weather", R"({"location": "Florence, Italy"})"}},
       .usage = {.input = 424, .output = 119}},
      {.name = "anthropic/tool-loop-turn1.sse",
       .stop = ReplyStop::calls,
       .calls = {{"toolu_01M8nJQQMxqpv1VaPYuJKT4j", "get_weather", R"({"city": "Paris"})"}},
       .usage = {.input = 798, .output = 66}},
      {.name = "anthropic/tool-loop-turn2.sse",
       .text = "Paris is currently sunny at 22°C.",
       .usage = {.input = 895, .output = 19}},
      {.name = "anthropic/tool-noargs.sse",
       .stop = ReplyStop::calls,
       .calls = {{"toolu_01EcJNDtgucTvxugUxuGcJmF", "best_language_to_learn", R"({})"}},
       .usage = {.input = 579, .output = 41}},
      {.name = "anthropic/tool-parallel-2.sse",
       .stop = ReplyStop::calls,
       .text = "I'll add and multiply the numbers 2 and 3 for you.",
       .calls = {{"toolu_01UYxUYC2zRPY8wiutnF48eP", "add", R"({"a": 2, "b": 3})"},
                 {"toolu_01VaRx1jpWCvPhi7L4kywAcd", "multiply", R"({"a": 2, "b": 3})"}},
       .usage = {.input = 502, .output = 137}},
      {.name = "anthropic/tool-single.sse",
       .stop = ReplyStop::calls,
       .calls = {{"toolu_012rmAruviySvUXSjgCPWVRu", "get_weather", R"({"city": "Paris"})"}},
       .usage = {.input = 677, .output = 33}},
      {.name = "anthropic/tool-with-ratelimit-headers.sse",
       .stop = ReplyStop::calls,
       .calls = {{"toolu_01MKSN7NHsBVKr7Jvw5pqCQq", "weather",
                  R"({"latitude": "52.5200", "longitude": "13.4050"})"}},
       .usage = {.input = 633, .output = 75}},
      {.name = "aimock/anthropic-blocks.sse",
       .stop = ReplyStop::calls,
       .text = "Let me check.",
       .calls = {{"toolu_L0_mLmWn7TIM6r79", "a", R"({"x":1})"}, {"toolu_eA3_ivSB8N0C9AKo", "b", R"({})"}}},
      {.name = "aimock/anthropic-hello.sse",
       .text = "Hi there, this is a deterministic answer from the mock."},
      {.name = "aimock/anthropic-length.sse",
       .stop = ReplyStop::output_limit,
       .text = "truncated by len",
       .usage = {.input = 11, .output = 22}},
      {.name = "aimock/anthropic-mixed.sse",
       .stop = ReplyStop::calls,
       .text = "Let me look.",
       .calls = {{"toolu_bTBBguoEWYWFTc2h", "read_file", R"({"path":"a.txt"})"}}},
      {.name = "aimock/anthropic-ratelimit.sse", .text = "ok after retry"},
      {.name = "aimock/anthropic-think.sse", .text = "391", .thinking_bytes = 34},
      {.name = "aimock/anthropic-weather.sse",
       .stop = ReplyStop::calls,
       .calls = {{"toolu_BtD8l1qc6_AAjYEN", "get_weather", R"({"city":"Paris","unit":"c"})"},
                 {"toolu_G0C_nP82EXCZc0Rw", "get_time", R"({"tz":"Europe/Paris"})"}}},
      {.name = "synthetic/anthropic-model-context-window-exceeded.sse",
       .stop = ReplyStop::context_exhausted,
       .text = "# The Ocean: Earth's Vast",
       .usage = {.input = 31, .output = 8}}};
  return kReplies;
}

// Answers of status 200 that end badly.
const std::vector<ExpectedFailure>& broken_streams() {
  static const std::vector<ExpectedFailure> kStreams{
      {.name = "aimock/anthropic-cut.sse", .kind = Kind::transient, .says = "before it was complete"},
      {.name = "synthetic/anthropic-cut-no-message-stop.sse",
       .kind = Kind::transient,
       .says = "before it was complete",
       .usage = {.input = 633, .output = 22}},
      {.name = "synthetic/anthropic-midstream-overloaded.sse",
       .kind = Kind::rate_limited,
       .says = "Overloaded",
       .usage = {.input = 633, .output = 22}}};
  return kStreams;
}

const std::vector<ExpectedFailure>& failures() {
  static const std::vector<ExpectedFailure> kFailures{
      {.name = "anthropic/error-400-prompt-too-long.json",
       .kind = Kind::context_exhausted,
       .says = "prompt is too long: 3333404 tokens > 200000 maximum"},
      {.name = "anthropic/error-400-temperature.json",
       .kind = Kind::definite,
       .says = "temperature: range: 0..1"},
      {.name = "anthropic/error-401-auth.json", .kind = Kind::definite, .says = "invalid x-api-key"},
      {.name = "aimock/anthropic-rl.sse",
       .kind = Kind::rate_limited,
       .says = "would exceed your rate limit",
       .retry_after = 7s},
      {.name = "aimock/anthropic-overloaded.sse", .kind = Kind::rate_limited, .says = "Overloaded"},
      {.name = "aimock/anthropic-toolong.sse",
       .kind = Kind::context_exhausted,
       .says = "prompt is too long: 210000 tokens > 200000 maximum"},
      {.name = "synthetic/anthropic-400-max-tokens-plus-input.json",
       .kind = Kind::context_exhausted,
       .says = "178959 + 64000 > 200000",
       .status = 400},
      {.name = "synthetic/anthropic-429.json",
       .kind = Kind::rate_limited,
       .says = "40,000 input tokens per minute",
       .retry_after = 16s},
      {.name = "synthetic/anthropic-529.json",
       .kind = Kind::rate_limited,
       .says = "Overloaded",
       .status = 529}};
  return kFailures;
}

// No answers to a streamed request: one is an answer without a stream (its stop reason is tried in
// anthropic_decoder_test.cc), two come from other endpoints, which are not called.
const std::vector<ExpectedReply> kNotApplicable{{.name = "anthropic/pause-turn-nonstream.json"},
                                                {.name = "anthropic/count-tokens.json"},
                                                {.name = "anthropic/models-list.json"}};

const bool kListed = list_fixtures(replies()) && list_fixtures(broken_streams()) &&
                     list_fixtures(failures()) && list_fixtures(kNotApplicable);

TEST(AnthropicFixtures, ComeToWhatTheySay) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const ExpectedReply& expected : replies()) {
    const Replayed replayed = replay(*dialect, load_fixture(expected.name).body);
    expect_reply(replayed, expected);
    EXPECT_TRUE(replayed.complete) << expected.name;
  }
}

TEST(AnthropicFixtures, GoBackWithTheirSignaturesAndSealedBlocks) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const ExpectedReply& expected : replies()) {
    SCOPED_TRACE(expected.name);
    const std::string body = load_fixture(expected.name).body;
    const auto outcome = replay(*dialect, body).outcome;
    const std::string fragment = dialect->encode(outcome->message);
    ASSERT_TRUE(parse_json_object(fragment)) << fragment;
    // Of two beginnings the second counts.
    const std::size_t last_start = body.rfind("event: message_start");
    for (const std::string_view before :
         {"\"signature\":\"", "\"data\":\"", "\"encrypted_content\":\"", "\"encrypted_index\":\""}) {
      expect_carried(std::string_view(body).substr(last_start), before, fragment);
    }
  }
}

TEST(AnthropicFixtures, BrokenStreamsFail) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const ExpectedFailure& expected : broken_streams()) {
    const auto outcome = replay(*dialect, load_fixture(expected.name).body).outcome;
    ASSERT_FALSE(outcome.has_value()) << expected.name;
    expect_failure(outcome.error(), expected);
  }
}

TEST(AnthropicFixtures, ErrorsAreToldApart) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const ExpectedFailure& expected : failures())
    expect_failure(failure_from(*dialect, expected), expected);
}

// A stream that is cut anywhere before its end fails, and is never taken for a shorter answer.
TEST(AnthropicFixtures, NoPrefixIsTakenForTheWhole) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const std::string name : {"anthropic/tool-parallel-2.sse", "anthropic/thinking-redacted-2.sse"}) {
    const std::string body = load_fixture(name).body;
    const std::size_t end = body.rfind("}");
    for (std::size_t size = 0; size < body.size(); ++size) {
      const auto decoder = dialect->decoder();
      decoder->feed(std::string_view(body).substr(0, size), {});
      ASSERT_EQ(decoder->finish().has_value(), size > end) << name << " cut at " << size;
    }
  }
}

}  // namespace
}  // namespace deputy
