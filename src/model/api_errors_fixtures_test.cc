// Every recorded error of OpenAI, of compatible servers and of Ollama, with what must be made of it.
#include <gtest/gtest.h>

#include "model/fixture_errors.h"
#include "model/openai_chat.h"
#include "model/outcome_text.h"

namespace deputy {
namespace {

const Recorded kRecorded[] = {
    {"openai-chat/error-400-validation.json",
     "definite: the provider answered 400: Invalid 'temperature': decimal above maximum value. Expected a "
     "value <= 2, but got 99.0 instead.",
     400},
    {"openai-chat/error-404-model.json",
     "definite: the provider answered 404: The model `this-model-does-not-exist` does not exist or you do "
     "not have access to it.; check the model's name and the base address",
     404},
    {"openai-chat/reasoning-model-legacy-param-error.json",
     "definite: the provider answered 400: Unsupported parameter: 'max_tokens' is not supported with this "
     "model. Use 'max_completion_tokens' instead.",
     400},
    {"openai-responses/error-400-context-length.json",
     "context_exhausted: the provider answered 400: Your input exceeds the context window of this model. "
     "Please adjust your input and try again.",
     400},
    {"openai-responses/error-400-orphan-reasoning.json",
     "definite: the provider answered 400: Item 'rs_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23' of "
     "type 'reasoning' was provided without its required following item.",
     400},
    {"openai-responses/error-401.json",
     "definite: the provider answered 401: Incorrect API key provided: [redacted]. You can find your API key "
     "at https://platform.openai.com/account/api-keys.; check the key",
     401},
    {"openai-responses/error-insufficient-quota.json",
     "definite: the provider answered 429: You exceeded your current quota, please check your plan and "
     "billing details. For more information on this error, read the docs: "
     "https://platform.openai.com/docs/guides/error-codes/api-errors.; check the account's credit",
     429},
    {"llamacpp/error-400-context.json",
     "context_exhausted: the provider answered 400: request (2009 tokens) exceeds the available context size "
     "(512 tokens), try increasing it",
     400},
    {"llamacpp/error-500-no-jinja.json",
     "definite: the provider answered 500: tools param requires --jinja flag", 500},
    {"ollama/v1-error-auth.json", "definite: the provider answered 401: Unauthorized; check the key", 401},
    {"ollama/v1-error-context.json",
     "context_exhausted: the provider answered 400: prompt too long; exceeded max context length by 1119046 "
     "tokens (ref: 96164522-08b2-4cbf-886e-e5a38961a688)",
     400},
    {"openrouter/error-400-context.json",
     "context_exhausted: the provider answered 400: This endpoint's maximum context length is 200000 tokens. "
     "However, you requested about 2500021 tokens (2500021 of text input). Please reduce the length of "
     "either one, or use the context-compression plugin to compress your prompt automatically.",
     400},
    {"openrouter/error-401.json",
     "definite: the provider answered 401: Missing Authentication header; check the key", 401},
    {"openrouter/error-429.json",
     "rate_limited: the provider answered 429: Provider returned error: google/gemini-2.0-flash-exp:free is "
     "temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate "
     "limits: https://openrouter.ai/settings/integrations",
     429},
    {"other/azure-429-ratelimit.json",
     "rate_limited: the provider answered 429: Your requests to grok-4-1-fast-non-reasoning for "
     "grok-4-1-fast-non-reasoning in westeurope have exceeded rate limit. [after 0ms]",
     429},
    {"other/bedrock-error-context.json",
     "context_exhausted: the provider answered 400: The model returned the following errors: Input Tokens "
     "Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
     400},
    {"other/deepseek-error-context.json",
     "context_exhausted: the provider answered 400: This model's maximum context length is 1048565 tokens. "
     "However, you requested 1250025 tokens (1250025 in the messages, 0 in the completion). Please reduce "
     "the length of the messages or completion.",
     400},
    {"other/groq-error-400-tool-use-failed.json",
     "transient: the provider answered 400: Tool call validation failed: tool call validation failed: "
     "parameters for tool get_something_by_name did not match schema: errors: [missing properties: 'name', "
     "additionalProperties 'foo' not allowed]",
     400},
    {"aimock/openai-chat-toolong.sse",
     "context_exhausted: the provider answered 400: prompt is too long: 210000 tokens > 200000 maximum", 400},
    {"aimock/openai-responses-toolong.sse",
     "context_exhausted: the provider answered 400: prompt is too long: 210000 tokens > 200000 maximum", 400},
    {"synthetic/openai-chat-400-context.json",
     "context_exhausted: the provider answered 400: This model's maximum context length is 128000 tokens. "
     "However, your messages resulted in 150234 tokens (149000 in the messages, 1234 in the functions). "
     "Please reduce the length of the messages or functions.",
     400},
    {"synthetic/openai-chat-429-tpm.json",
     "rate_limited: the provider answered 429: Rate limit reached for gpt-4.1 in organization org-SYNTHETIC "
     "on tokens per min (TPM): Limit 30000, Used 18928, Requested 11159. Please try again in 174ms. Visit "
     "https://platform.openai.com/account/rate-limits to learn more. [after 174ms] [of 30000 tokens a "
     "minute]",
     429},
    {"synthetic/vllm-400-context.json",
     "context_exhausted: the provider answered 400: This model's maximum context length is 32768 tokens. "
     "However, you requested 4096 output tokens and your prompt contains at least 28673 input tokens, for a "
     "total of at least 32769 tokens. Please reduce the length of the input prompt or the number of "
     "requested output tokens.",
     400},
};

// An answer without a stream, which is never asked for: what comes of it where it is streamed.
const Recorded kWholeAnswers[] = {
    {"other/vllm-chat.json",
     "output_limit 57/20/0/0\ntext: Your question was very interesting <|im_end|>\\n<|im_end|>", 200}};

const bool kListed = list_fixtures(kRecorded) && list_fixtures(kWholeAnswers);

TEST(OpenAiErrorFixtures, AnAnswerWithoutAStreamSaysTheSameInOneAndIsNoneItself) {
  NEEDS_FIXTURES();
  const auto dialect = openai_chat_dialect(ChatFlavour::compatible);
  for (const Recorded& recorded : kWholeAnswers) {
    expect_no_answer_in_any_cuts(*dialect, recorded.name);
    auto answer = parse_json(load_fixture(recorded.name).body);
    ASSERT_TRUE(answer);
    json::object& choice = answer->at("choices").at(0).as_object();
    choice["delta"] = choice.at("message");
    const auto outcome = replay(*dialect, "data: " + to_json_text(*answer) + "\n\ndata: [DONE]\n\n").outcome;
    EXPECT_EQ(api::outcome_text(outcome), recorded.outcome) << recorded.name;
  }
}

TEST(OpenAiErrorFixtures, EveryErrorIsRecognised) {
  NEEDS_FIXTURES();
  const auto dialect = openai_chat_dialect(ChatFlavour::compatible);
  for (const Recorded& recorded : kRecorded)
    EXPECT_EQ(api::outcome_text(failure_from(*dialect, recorded)), recorded.outcome) << recorded.name;
}

}  // namespace
}  // namespace deputy
