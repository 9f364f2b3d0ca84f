// Recorded traffic of the Messages API, with what must come of it.
#include <gtest/gtest.h>

#include "model/anthropic.h"
#include "model/fixture_errors.h"
#include "model/outcome_text.h"

namespace deputy {
namespace {

using api::outcome_text;

const Recorded kReplies[] = {
    {"anthropic/cache-read.sse",
     R"(finished 5761/5/5752/0
text: Hi.)"},
    {"anthropic/cache-write.sse",
     R"(finished 5761/5/0/5752
text: Hi.)"},
    {"anthropic/compaction-stream.sse",
     R"(finished 224/22/0/0
text: The text consists entirely of the letter "b" repeated thousands of times with no meaningful content.)"},
    {"anthropic/consecutive-roles-accepted.sse",
     R"(finished 638/14/0/0
text: The weather in Paris is currently 72°F.)"},
    {"anthropic/context-editing-clear-tool-uses.sse",
     R"(finished 859/122/0/0
text: \n\nHere's a comparison of the weather in … 444 bytes 8cb57585a8dd)"},
    {"anthropic/server-tool-search-then-client-tool.sse",
     R"(calls 1591/175/0/0
text: Let me search for a tool that can provid… 158 bytes e73ac65d75e5
call toolu_01EFn5wTNBYA8Reni8rbmnHT get_exchange_rate {"from_currency": "USD", "to_currency": "EUR"})"},
    {"anthropic/server-web-search-citations.sse",
     R"(finished 9447/114/0/0
text: The latest stable Ruby version is 4.0.6, which was released in July 2026.)"},
    {"anthropic/spliced-message-start.sse",
     R"(calls 17/65/0/0
text: 
thinking: Let me call the tool.
call toolu_second test-tool {"value":"Sparkle Day"})"},
    {"anthropic/stop-max-tokens-after-thinking.sse",
     R"(output_limit 61/1025/0/0
text: 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n1… 1887 bytes b2ecba70b093
thinking: The user wants me to list integers from 1 to 2000, one per line.)"},
    {"anthropic/stop-max-tokens.sse",
     R"(output_limit 31/8/0/0
text: # The Ocean: Earth's Vast)"},
    {"anthropic/stop-refusal-after-tool.sse",
     R"(refused 28/106/0/0
text: Here's a summary of this year's solar eclipses and how
error: the provider declined to answer; put the task differently or choose another model)"},
    {"anthropic/stop-refusal-stream.sse",
     R"(refused 28/106/0/0
text: Hi
thinking: Simple educational question about what a… 216 bytes bea03e2298bd
error: the provider declined to answer; put the task differently or choose another model)"},
    {"anthropic/thinking-adaptive-opus.sse",
     R"(finished 102/630/0/0
text: ## Setting Up the Problem\n\n- **Train A**… 899 bytes 73c5cf2f64e1)"},
    {"anthropic/thinking-omitted-signature-only.sse",
     R"(finished 2411/145/0/0
text: The task asks "What's 2+2?" — a trivia… 192 bytes 939e24e698eb)"},
    {"anthropic/thinking-redacted-2.sse",
     R"(finished 92/189/0/0
text: I notice that you've sent what appears t… 359 bytes 33e0d169251b)"},
    {"anthropic/thinking-redacted.sse",
     R"(finished 92/255/0/0
text: I notice you've sent what appears to be … 396 bytes 0371139d4d98)"},
    {"anthropic/thinking-text.sse",
     R"(finished 80/638/0/0
text: I'd ask: **"What would you say if I aske… 1263 bytes 3ae19349b2f8
thinking: This is a clever paradox question. Let m… 1476 bytes a65f103038f7)"},
    {"anthropic/thinking-then-tool.sse",
     R"(calls 424/119/0/0
text: 
thinking: The user is asking for weather informati… 301 bytes b15bb961098f
call toolu_01Js4AMfx5qpTLhwTusnvT68 weather {"location": "Florence, Italy"})"},
    {"anthropic/tool-loop-turn1.sse",
     R"(calls 798/66/0/0
text: 
call toolu_01M8nJQQMxqpv1VaPYuJKT4j get_weather {"city": "Paris"})"},
    {"anthropic/tool-loop-turn2.sse",
     R"(finished 895/19/0/0
text: Paris is currently sunny at 22°C.)"},
    {"anthropic/tool-noargs.sse",
     R"(calls 579/41/0/0
text: 
call toolu_01EcJNDtgucTvxugUxuGcJmF best_language_to_learn {})"},
    {"anthropic/tool-parallel-2.sse",
     R"(calls 502/137/0/0
text: I'll add and multiply the numbers 2 and 3 for you.
call toolu_01UYxUYC2zRPY8wiutnF48eP add {"a": 2, "b": 3}
call toolu_01VaRx1jpWCvPhi7L4kywAcd multiply {"a": 2, "b": 3})"},
    {"anthropic/tool-single.sse",
     R"(calls 677/33/0/0
text: 
call toolu_012rmAruviySvUXSjgCPWVRu get_weather {"city": "Paris"})"},
    {"anthropic/tool-with-ratelimit-headers.sse",
     R"(calls 633/75/0/0
text: 
call toolu_01MKSN7NHsBVKr7Jvw5pqCQq weather {"latitude": "52.5200", "longitude": "13.4050"})"},
    {"aimock/anthropic-blocks.sse",
     R"(calls 0/0/0/0
text: Let me check.
call toolu_L0_mLmWn7TIM6r79 a {"x":1}
call toolu_eA3_ivSB8N0C9AKo b {})"},
    {"aimock/anthropic-hello.sse",
     R"(finished 0/0/0/0
text: Hi there, this is a deterministic answer from the mock.)"},
    {"aimock/anthropic-length.sse",
     R"(output_limit 11/22/0/0
text: truncated by len)"},
    {"aimock/anthropic-mixed.sse",
     R"(calls 0/0/0/0
text: Let me look.
call toolu_bTBBguoEWYWFTc2h read_file {"path":"a.txt"})"},
    {"aimock/anthropic-ratelimit.sse",
     R"(finished 0/0/0/0
text: ok after retry)"},
    {"aimock/anthropic-think.sse",
     R"(finished 0/0/0/0
text: 391
thinking: 17*23 = 391, so the answer is 391.)"},
    {"aimock/anthropic-weather.sse",
     R"(calls 0/0/0/0
text: 
call toolu_BtD8l1qc6_AAjYEN get_weather {"city":"Paris","unit":"c"}
call toolu_G0C_nP82EXCZc0Rw get_time {"tz":"Europe/Paris"})"},
    {"synthetic/anthropic-model-context-window-exceeded.sse",
     R"(context_exhausted 31/8/0/0
text: # The Ocean: Earth's Vast
error: the conversation no longer fits the model's context window)"},
};

// Answers of status 200 that end badly.
const Recorded kBrokenStreams[] = {
    {"aimock/anthropic-cut.sse", R"(transient: the provider's answer ended before it was complete)"},
    {"synthetic/anthropic-cut-no-message-stop.sse",
     R"(transient: the provider's answer ended before it was complete [used 633/22])"},
    {"synthetic/anthropic-midstream-overloaded.sse",
     R"(rate_limited: the provider broke off: Overloaded [used 633/22])"},
};

const Recorded kFailures[] = {
    {"anthropic/error-400-prompt-too-long.json",
     R"(context_exhausted: the provider answered 400: prompt is too long: 3333404 tokens > 200000 maximum)"},
    {"anthropic/error-400-temperature.json",
     R"(definite: the provider answered 400: temperature: range: 0..1)"},
    {"anthropic/error-401-auth.json",
     R"(definite: the provider answered 401: invalid x-api-key; check the key)"},
    {"aimock/anthropic-rl.sse",
     R"(rate_limited: the provider answered 429: This request would exceed your rate limit [after 7s] [of 150000 tokens a minute])"},
    {"aimock/anthropic-overloaded.sse", R"(rate_limited: the provider answered 529: Overloaded)"},
    {"aimock/anthropic-toolong.sse",
     R"(context_exhausted: the provider answered 400: prompt is too long: 210000 tokens > 200000 maximum)"},
    {"synthetic/anthropic-400-max-tokens-plus-input.json",
     R"(context_exhausted: the provider answered 400: input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again)",
     400},
    {"synthetic/anthropic-429.json",
     R"(rate_limited: the provider answered 429: This request would exceed the rate limit for your organization of 40,000 input tokens per minute. [after 16s] [of 40000 uncached tokens a minute])"},
    {"synthetic/anthropic-529.json", R"(rate_limited: the provider answered 529: Overloaded)", 529},
};

// An answer without a stream, which is never asked for: what comes of it where it is streamed.
const Recorded kWhole[] = {
    {"anthropic/pause-turn-nonstream.json",
     R"(paused 401468/792/0/0
text: I'll run these searches for you one at a time. Let me begin:
thinking: The user wants me to run 15 separate web… 293 bytes d0115c47eadb)"},
};

// Of other endpoints, which are not called: no answers of a model.
const Recorded kOtherEndpoints[] = {{"anthropic/count-tokens.json", ""}, {"anthropic/models-list.json", ""}};

const bool kListed = list_fixtures(kReplies) && list_fixtures(kBrokenStreams) && list_fixtures(kFailures) &&
                     list_fixtures(kWhole) && list_fixtures(kOtherEndpoints);

// The stream that would have brought this message.
std::string streamed(json::object message) {
  const auto event = [](const json::object& data) {
    return fmt::format("event: {}\ndata: {}\n\n", string_or(data, "type", ""), to_json_text(data));
  };
  const json::array blocks = *array_at(message, "content");
  const json::value reason = message["stop_reason"];
  const json::value usage = message["usage"];
  message["content"] = json::array{};
  message["stop_reason"] = nullptr;
  std::string stream = event({{"type", "message_start"}, {"message", message}});
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    stream += event({{"type", "content_block_start"}, {"index", i}, {"content_block", blocks[i]}});
    stream += event({{"type", "content_block_stop"}, {"index", i}});
  }
  stream += event({{"type", "message_delta"}, {"delta", {{"stop_reason", reason}}}, {"usage", usage}});
  return stream + event({{"type", "message_stop"}});
}

TEST(AnthropicFixtures, AnAnswerWithoutAStreamSaysTheSameInOne) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const Recorded& recorded : kWhole) {
    SCOPED_TRACE(recorded.name);
    const auto message = parse_json_object(load_fixture(recorded.name).body);
    ASSERT_TRUE(message);
    const Replayed replayed = replay(*dialect, streamed(*message));
    EXPECT_EQ(outcome_text(replayed.outcome), recorded.outcome);
    ASSERT_TRUE(replayed.outcome);
    const std::string goes_back = dialect->encode(replayed.outcome->message);
    for (const json::value& block : *array_at(*message, "content"))
      EXPECT_TRUE(goes_back.contains(to_json_text(block))) << "a pause goes on with all of it";
  }
}

TEST(AnthropicFixtures, WhatIsNoStreamIsNeverTakenForAnAnswer) {
  NEEDS_FIXTURES();
  for (const auto& list : {std::span<const Recorded>(kWhole), std::span<const Recorded>(kOtherEndpoints)}) {
    for (const Recorded& recorded : list) expect_no_answer_in_any_cuts(*anthropic_dialect(), recorded.name);
  }
}

TEST(AnthropicFixtures, ComeToWhatTheySay) {
  NEEDS_FIXTURES();
  expect_outcomes(*anthropic_dialect(), kReplies);
  expect_outcomes(*anthropic_dialect(), kBrokenStreams);
}

TEST(AnthropicFixtures, GoBackWithTheirSignaturesAndSealedBlocks) {
  NEEDS_FIXTURES();
  const auto dialect = anthropic_dialect();
  for (const Recorded& recorded : kReplies) {
    SCOPED_TRACE(recorded.name);
    const std::string body = load_fixture(recorded.name).body;
    const Replayed replayed = replay(*dialect, body);
    EXPECT_TRUE(replayed.complete);
    const std::string fragment = dialect->encode(replayed.outcome->message);
    ASSERT_TRUE(parse_json_object(fragment)) << fragment;
    // Of two beginnings the second counts.
    const std::size_t last_start = body.rfind("event: message_start");
    for (const std::string_view before :
         {"\"signature\":\"", "\"data\":\"", "\"encrypted_content\":\"", "\"encrypted_index\":\""}) {
      expect_carried(std::string_view(body).substr(last_start), before, fragment);
    }
  }
}

TEST(AnthropicFixtures, ErrorsAreToldApart) {
  NEEDS_FIXTURES();
  expect_failures(*anthropic_dialect(), kFailures);
}

TEST(AnthropicFixtures, NoPrefixIsTakenForTheWhole) {
  NEEDS_FIXTURES();
  expect_no_shorter_answer(*anthropic_dialect(), "anthropic/tool-parallel-2.sse");
  expect_no_shorter_answer(*anthropic_dialect(), "anthropic/thinking-redacted-2.sse");
}

}  // namespace
}  // namespace deputy
