// Recorded traffic of generateContent, with what must come of it.
#include <gtest/gtest.h>

#include "model/fixture_errors.h"
#include "model/gemini.h"
#include "model/outcome_text.h"

namespace deputy {
namespace {

using api::outcome_text;

const Recorded kReplies[] = {
    {"gemini/max-tokens.sse",
     R"(output_limit 12/33/0/0
text: Standing sentinel against the relentless… 170 bytes de84425692ce)"},
    {"gemini/signature-separate-chunk.sse",
     R"(calls 29/212/0/0
text: 
call local_QUVVadTSNJ6_qtsPvN7J8Q0_1 get_country {})"},
    {"gemini/stream-tool-call-arguments.sse",
     R"(calls 26/155/0/0
text: 
call local_dqHOab6xGLzWodAPkPuViA4_1 getWeather {"location":"Boston"}
call local_dqHOab6xGLzWodAPkPuViA4_2 getWeather {"location":"San Francisco"})"},
    {"gemini/stream-tool-call-noargs.sse",
     R"(calls 249/241/0/0
text: 
thinking: **Processing User Requests**\n\nI've start… 320 bytes b543f381617b
call local__vr4aYiWEJnYodAPkujX0QM_1 read_theme {}
call local__vr4aYiWEJnYodAPkujX0QM_2 read_screen {"id":"A"}
call local__vr4aYiWEJnYodAPkujX0QM_3 read_screen {"id":"B"}
call local__vr4aYiWEJnYodAPkujX0QM_4 read_screen {"id":"C"})"},
    {"gemini/text.sse",
     R"(finished 11/18/0/0
text: Hello!)"},
    {"gemini/thinking-3flash.sse",
     R"(finished 44/1510/0/0
text: To see your future self in such a mirror… 2675 bytes c6d372a92411
thinking: **Pondering Mirror Queries**\n\nI'm wrestl… 1466 bytes 440575ae0533)"},
    {"gemini/thinking-then-tool.sse",
     R"(calls 54/76/0/0
text: 
thinking: **Determining the Weather Inquiry**\n\nI'v… 329 bytes 144b58076c73
call local_zwCzaYWfAbnoz7IPmc_m6Q4_1 weather {"location": "Florence, Italy"})"},
    {"gemini/tool-parallel-25.sse",
     R"(calls 121/74/0/0
text: 
call local_XQCzaYWvIqfRz7IPupTlyAk_1 add {"b": 3,"a": 2}
call local_XQCzaYWvIqfRz7IPupTlyAk_2 multiply {"a": 2,"b": 3})"},
    {"gemini/tool-parallel-3pro-turn2.sse",
     R"(finished 646/39/0/0
text: The sum of 2 and 3 is 5, and their product is 6.)"},
    {"gemini/tool-parallel-3pro.sse",
     R"(calls 157/470/0/0
text: 
call 8hd01vsf add {"a": 2,"b": 3}
call k0srpqrc multiply {"b": 3,"a": 2})"},
    {"gemini/tool-single-25.sse",
     R"(calls 55/60/0/0
text: 
call local_NyTxaYuTJ_OW_uMPgIPKgAg_1 get_weather {"city": "Paris"})"},
    {"gemini/two-finish-reasons.sse",
     R"(finished 665/304/0/0
text: The first number is 121932631112635269.\nThe second number is 63.)"},
    {"aimock/gemini-hello.sse",
     R"(finished 0/0/0/0
text: Hi there, this is a deterministic answer from the mock.)"},
    {"aimock/gemini-think.sse",
     R"(finished 0/0/0/0
text: 391
thinking: 17*23 = 391, so the answer is 391.)"},
    {"aimock/gemini-weather.sse",
     R"(calls 0/0/0/0
text: 
call local_dd795a60_1 get_weather {"city":"Paris","unit":"c"}
call local_dd795a60_2 get_time {"tz":"Europe/Paris"})"},
    {"synthetic/gemini-malformed-function-call.sse",
     R"(transient: the model wrote a call that the provider could not read (MALFORMED_FUNCTION_CALL) [used 120/0])"},
};

// Answers without a stream have the form of a stream's chunks.
const Recorded kChunks[] = {
    {"gemini/blocked-prompt-model-armor.json",
     R"(refused 0/0/0/0
text: 
error: the provider declined to answer (MODEL_A… 156 bytes dd7c3e91a779)"},
    {"gemini/finish-model-armor.json",
     R"(refused 19/33/0/0
text: 
error: the provider declined to answer (MODEL_A… 195 bytes ef610c80a3d5)"},
};

const Recorded kFailures[] = {
    {"gemini/error-400-bad-key.json",
     R"(definite: the provider answered 400: API key not valid. Please pass a valid API key.; check the key)"},
    {"gemini/error-404-model.json",
     R"(definite: the provider answered 404: models/gemini-nonexistent-rig-test is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.; check the model's name and the base address)"},
    // What was recorded was a request of more than a million tokens. Its size is not in the answer: with the
    // quota that is, a request that is larger ends as context exhausted (RetryDecision, HttpModels).
    {"gemini/error-429-retryinfo.json",
     R"(rate_limited: the provider answered 429: You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. * Quota exceeded for metric: generativelanguage.googleapis.… [after 48s] [of 1000000 tokens a minute])"},
    {"synthetic/gemini-400-too-long.json",
     R"(context_exhausted: the provider answered 400: The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).)",
     400},
    {"synthetic/gemini-400-too-long-array.json",
     R"(context_exhausted: the provider answered 400: The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).)",
     400},
    {"synthetic/gemini-400-missing-thought-signature.json",
     R"(definite: the provider answered 400: Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:shell_command` , position 3.)",
     400},
};

const bool kListed = list_fixtures(kReplies) && list_fixtures(kChunks) && list_fixtures(kFailures);

TEST(GeminiFixtures, ComeToWhatTheySay) {
  NEEDS_FIXTURES();
  expect_outcomes(*gemini_dialect(), kReplies);
}

TEST(GeminiFixtures, BlockedPromptsAndAnswersAreRefusals) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  for (const Recorded& recorded : kChunks) {
    const Replayed replayed = replay(*dialect, "data: " + load_fixture(recorded.name).body + "\r\n\r\n");
    EXPECT_EQ(outcome_text(replayed.outcome), recorded.outcome) << recorded.name;
    EXPECT_TRUE(replayed.outcome->error.contains("MODEL_ARMOR")) << replayed.outcome->error;
  }
}

TEST(GeminiFixtures, GoBackWithTheirSignatures) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  for (const Recorded& recorded : kReplies) {
    SCOPED_TRACE(recorded.name);
    const std::string body = load_fixture(recorded.name).body;
    if (!replay(*dialect, body).outcome) continue;
    const std::string fragment = dialect->encode(replay(*dialect, body).outcome->message);
    ASSERT_TRUE(parse_json_object(fragment)) << fragment;
    for (const std::string_view before : {"\"thoughtSignature\": \"", "\"thoughtSignature\":\""}) {
      expect_carried(body, before, fragment);
    }
  }
}

TEST(GeminiFixtures, ErrorsAreToldApart) {
  NEEDS_FIXTURES();
  expect_failures(*gemini_dialect(), kFailures);
}

TEST(GeminiFixtures, NoPrefixIsTakenForTheWhole) {
  NEEDS_FIXTURES();
  expect_no_shorter_answer(*gemini_dialect(), "gemini/tool-parallel-3pro.sse");
}

}  // namespace
}  // namespace deputy
