// Every recorded answer of OpenAI, of compatible servers and of Ollama, with what must come of it.
#include <gtest/gtest.h>

#include "model/fixture_replay.h"
#include "model/ollama.h"
#include "model/openai_chat.h"
#include "model/openai_responses.h"
#include "model/outcome_text.h"

namespace deputy {
namespace {

enum Spoken { kChat, kCompatible, kResponses, kOllama };

std::unique_ptr<Dialect> dialect_of(Spoken spoken) {
  switch (spoken) {
    case kChat:
      return openai_chat_dialect(ChatFlavour::openai);
    case kCompatible:
      return openai_chat_dialect(ChatFlavour::compatible);
    case kResponses:
      return openai_responses_dialect();
    case kOllama:
      return ollama_dialect();
  }
  return nullptr;
}

struct Recorded {
  Spoken spoken;
  std::string_view name;
  std::string_view outcome;  // stop, tokens in/out/read from the cache/written to it; text; …
};

const Recorded kRecorded[] = {
    {kChat, "openai-chat/multiple-choices.sse",
     R"(finished 26/104/0/0
text: I'm unable to provide real-time weather … 277 bytes cfb0e0914d5f)"},
    {kChat, "openai-chat/refusal-stream.sse",
     R"(refused 49/13/0/0
text: 
error: the provider declined to answer: I'm rea… 138 bytes 6f37bf3b6450)"},
    {kChat, "openai-chat/text-usage.sse",
     R"(finished 22/2/0/0
text: Hello!)"},
    {kChat, "openai-chat/tool-loop-turn1.sse",
     R"(calls 64/14/0/0
text: 
call call_tyZNHs2AudCbG4XJUEmX5Waw get_weather {"city":"Paris"})"},
    {kChat, "openai-chat/tool-loop-turn2.sse",
     R"(finished 96/15/0/0
text: The weather in Paris is sunny with a temperature of 22°C.)"},
    {kChat, "openai-chat/tool-parallel-2-gpt4o.sse",
     R"(calls 106/50/0/0
text: 
call call_ehIWdjL1abZk1h8FWGLQ0Hie add {"a": 2, "b": 3}
call call_fBSgA47J5VeONggizTIvl7AH multiply {"a": 2, "b": 3})"},
    {kChat, "openai-chat/tool-parallel-2-gpt5.sse",
     R"(calls 190/379/0/0
text: 
call call_8ElDxJj6u7IUDEwQIrwFbveM add {"a": 2, "b": 3}
call call_HEZOX3JzspqFubADMNdWn12E multiply {"a": 2, "b": 3})"},
    {kChat, "openai-chat/tool-parallel-3.sse",
     R"(calls 157/45/0/0
text: 
call call_REDACTED_1 lookup_harbor_label {}
call call_REDACTED_2 lookup_orchard_label {})"},
    {kChat, "openai-chat/tool-parallel-headers.sse",
     R"(calls 75/51/0/0
text: 
call call_fHCjJqt9Pysde6vcJcvbXGBx get_current_weather {"location": "Seattle, WA"}
call call_3J9foSw3CUb48lrqIXoTky6U get_current_weather {"location": "San Francisco, CA"})"},
    {kChat, "openai-chat/tool-truncated-length.sse",
     R"(output_limit 101/16/0/0
text: )"},
    {kResponses, "openai-responses/codex-oauth-tool.sse",
     R"(calls 82/48/0/0
text: 
call call_Ix5Urx04RtKsUJ75K0vTTgFF get_weather {"city":"Paris"})"},
    {kResponses, "openai-responses/copilot-id-rotation.sse",
     R"(finished 19/105/0/0
text: There are **3** letter **“r”**s in *… 146 bytes 2b565af7080a
thinking: **Counting character occurrences**)"},
    {kResponses, "openai-responses/error-insufficient-quota-midstream.sse",
     R"(definite: the provider broke off: You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.; check the account's credit)"},
    {kResponses, "openai-responses/error-rate-limit-midstream.sse",
     R"(context_exhausted: the provider broke off: Request too large for gpt-4o in project proj_REDACTED organization org-REDACTED on tokens per min (TPM): Limit 1, Requested 30. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.)"},
    {kResponses, "openai-responses/incomplete-max-output.sse",
     R"(output_limit 20/32/0/0
text: )"},
    {kResponses, "openai-responses/phase-commentary-then-tool.sse",
     R"(calls 63/69/0/0
text: I’ll check the capital lookup tool for “PotatoLand.”
call call_LabG58Uhrq9kZvR52BYKjToD get_capital {"country":"PotatoLand"})"},
    {kResponses, "openai-responses/reasoning-encrypted-replay.sse",
     R"(finished 35/20/0/0
text: Done.)"},
    {kResponses, "openai-responses/reasoning-encrypted-store-false.sse",
     R"(finished 31/20/0/0
text: Hello!)"},
    {kResponses, "openai-responses/reasoning-summary-then-tool.sse",
     R"(calls 63/121/0/0
text: 
thinking: **Getting weather info**\n\nI need to resp… 424 bytes 12941005859c
call call_zgUaIBRPTwxxOusyyKw5NVMH weather {"location":"Florence, Italy"})"},
    {kResponses, "openai-responses/reasoning-then-tool-nano.sse",
     R"(calls 58/248/0/0
text: 
call call_gAlMKYUezxsrjOsVqKjhG5Me best_language_to_learn {})"},
    {kResponses, "openai-responses/tool-loop-turn1.sse",
     R"(calls 67/18/0/0
text: 
call call_JCuVTkQxVB3cCmFWx52adJKZ get_weather {"city":"Paris"})"},
    {kResponses, "openai-responses/tool-loop-turn2.sse",
     R"(finished 106/14/0/0
text: It’s sunny and 22°C in Paris.)"},
    {kResponses, "openai-responses/tool-single-gpt55.sse",
     R"(calls 61/18/0/0
text: 
call call_ZAbAwsIFeJSyPqz3HaHRXBSn get_weather {"city":"Paris"})"},
    {kCompatible, "llamacpp/tool-gpt-oss.sse",
     R"(calls 139/41/0/0
text: 
thinking: User wants weather in Florence, Italy. We can use the weather function.
call g2KOIWzn722hzEaZQmNVP4roUPEiYafL weather {"location":"Florence, Italy"})"},
    {kCompatible, "llamacpp/tool-truncated.sse",
     R"(output_limit 165/20/164/0
text: )"},
    {kCompatible, "llamacpp/tool-two-calls.sse",
     R"(calls 286/42/0/0
text: 
call call_REDACTED_1 lookup_harbor_label {}
call call_REDACTED_2 lookup_orchard_label {})"},
    {kOllama, "ollama/api-chat-multi-tool.ndjson",
     R"(calls 149/15/0/0
text: 
call call_ca445672f50b weather {"city":"Detroit"})"},
    {kOllama, "ollama/api-chat-text.ndjson",
     R"(finished 17/50/0/0
text: Why did the OpenTelemetry agent go to th… 212 bytes f5641fb35936)"},
    {kOllama, "ollama/api-chat-thinking.ndjson",
     R"(finished 0/0/0/0
text: Here is the answer: You should bring a light jacket. Have a great day!
thinking: Let me think about that.First, I will consider relevant factors.)"},
    {kOllama, "ollama/api-chat-tool.ndjson",
     R"(calls 218/306/0/0
text: 
call call_00ef2051ca02 weather {"city":"Detroit"}
call call_7e5d51734b11 search {"query":"Detroit Tigers game time today"})"},
    {kCompatible, "ollama/v1-tool-gpt-oss.sse",
     R"(calls 169/55/0/0
text: 
thinking: We need to call weather function with latitude and longitude. Provide as strings.
call call_x7rn5sl5 weather {"latitude":"52.5200","longitude":"13.4050"})"},
    {kCompatible, "ollama/v1-tool-qwen3-local.sse",
     R"(calls 195/140/0/0
text: 
thinking: Okay, the user is asking for the weather… 439 bytes 4c8d5d94fa63
call call_blqyt530 weather {"latitude":"52.5200","longitude":"13.4050"})"},
    {kCompatible, "openrouter/reasoning-details-tool.sse",
     R"(calls 626/106/0/0
text: 
thinking: The user is asking for the weather in Be… 211 bytes 970213029047
call toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7 reasoning_weather {"city": "Berlin"})"},
    {kResponses, "openrouter/responses-tool.sse",
     R"(calls 42/12/0/0
text: 
call call_faKQ4JI18zZQE2oynAbvwip4 llm_version {})"},
    {kCompatible, "openrouter/thinking-claude-tool.sse",
     R"(calls 607/143/0/0
text: 
thinking: The user is asking for weather informati… 388 bytes 54cbe62a09ab
call toolu_bdrk_01N8hD5cYDw4WfvnjKXAkA2W weather {"location": "Florence, Italy"})"},
    {kCompatible, "openrouter/tool-delta-variant-a.sse",
     R"(calls 57/17/0/0
text: 
call call_d9f1191da28b llm_version {})"},
    {kCompatible, "openrouter/tool-delta-variant-b.sse",
     R"(calls 57/17/0/0
text: 
call call_d9f1191da28b llm_version {})"},
    {kCompatible, "openrouter/tool-delta-variant-c.sse",
     R"(calls 56/12/0/0
text: 
call call_fc48ee11c4b5 llm_version {})"},
    {kCompatible, "openrouter/tool-delta-variant-d.sse",
     R"(calls 57/17/0/0
text: 
call call_d2ffc14e121e llm_version {})"},
    {kCompatible, "openrouter/tool-parallel-gemini-reasoning.sse",
     R"(calls 157/32/0/0
text: 
call tool_add_kZJN6iFNozVOBiXBMA2Y add {"a":2,"b":3}
call tool_multiply_7Pq02EcannPbKks8kXlA multiply {"a":2,"b":3})"},
    {kCompatible, "other/deepseek-text.sse",
     R"(finished 14/2/0/0
text: Hello!)"},
    {kCompatible, "other/groq-stream-error-tool-use-failed.sse",
     R"(transient: the provider answered 400: Tool call validation failed: tool call validation failed: parameters for tool get_something_by_name did not match schema: errors: [missing properties: 'name', additionalProperties 'invalid_param' not allowed])"},
    {kCompatible, "other/groq-tool.sse",
     R"(calls 249/10/0/0
text: 
call mcf2d8nn1 get_weather {"city":"Paris"})"},
    {kCompatible, "other/mistral-incremental-tool-call.sse",
     R"(calls 171/14/128/0
text: 
call chatcmpl-tool-9f149c74c42f265b webSearchTool {"query": "current Berlin weather"})"},
    {kCompatible, "other/vllm-backed-7-parallel-tools-writer.sse",
     R"(calls 212/153/0/0
text: 
call chatcmpl-tool-5ac885d9b1b54a66b11f014a1ecb5b9d get_weather {"location": "Zakopane"}
call chatcmpl-tool-368eedfd835c4186b5cb97c69d803cf0 get_weather {"location": "Warsaw"}
call chatcmpl-tool-af73f77676e3402e9e04a4f867552ddd get_weather {"location": "Lodz"}
call chatcmpl-tool-e9d9b531d7954d789c1ccc21dbdd3be0 get_weather {"location": "Katowice"}
call chatcmpl-tool-a5155160b47c4f5c9f02eb234cac9e7c get_weather {"location": "Krakow"}
call chatcmpl-tool-aad9face17d14c7296dd569213e61f47 get_weather {"location": "Poznan"}
call chatcmpl-tool-938c427496df48f3b2efb60d6a854461 get_weather {"location": "Lublin"})"},
    {kCompatible, "other/vllm-backed-tool-cloudflare.sse",
     R"(calls 136/37/0/0
text: 
thinking: We need to call the function get_weather with city "Paris".
call chatcmpl-tool-ed7127682c90443da222d0f8c607b5d5 get_weather {"city":"Paris"})"},
    {kCompatible, "other/xai-tool.sse",
     R"(calls 291/222/290/0
text: 
thinking: First, the user is
call call_55117580 weather {"location":"San Francisco"})"},
    {kOllama, "aimock/ollama-weather.ndjson",
     R"(calls 0/0/0/0
text: 
call call_af487b658887 get_weather {"city":"Paris","unit":"c"}
call call_a9b0169e86d6 get_time {"tz":"Europe/Paris"})"},
    {kCompatible, "aimock/openai-chat-abort.sse",
     R"(transient: the provider's answer ended before it was complete)"},
    {kCompatible, "aimock/openai-chat-hello.sse",
     R"(finished 2/14/0/0
text: Hi there, this is a deterministic answer from the mock.)"},
    {kCompatible, "aimock/openai-chat-length.sse",
     R"(output_limit 11/22/0/0
text: truncated by len)"},
    {kCompatible, "aimock/openai-chat-mixed.sse",
     R"(calls 2/10/0/0
text: Let me look.
call call_3yV6pZe-RFPupNNu read_file {"path":"a.txt"})"},
    {kResponses, "aimock/openai-responses-hello.sse",
     R"(finished 0/0/0/0
text: Hi there, this is a deterministic answer from the mock.)"},
    {kResponses, "aimock/openai-responses-think.sse",
     R"(finished 0/0/0/0
text: 391
thinking: 17*23 = 391, so the answer is 391.)"},
    {kResponses, "aimock/openai-responses-weather.sse",
     R"(calls 0/0/0/0
text: 
call call_z_LMHQv6okFdd-Yf get_weather {"city":"Paris","unit":"c"}
call call_79i4karVyRPRLBsc get_time {"tz":"Europe/Paris"})"},
    {kCompatible, "synthetic/chat-error-after-200.sse",
     R"(context_exhausted: the provider answered 400: The input (262150 tokens) is longer than the model's context length (262144 tokens).)"},
    {kOllama, "synthetic/ollama-error-in-stream.ndjson",
     R"(transient: the provider broke off: an error was encountered while running the model: unexpected EOF)"},
    {kResponses, "synthetic/openai-responses-error-flat.sse",
     R"(rate_limited: the provider broke off: Our servers are currently overloaded. Please try again later.)"},
    {kResponses, "synthetic/openai-responses-failed-context.sse",
     R"(context_exhausted: the provider broke off: Your input exceeds the context window of this model. Please adjust your input and try again.)"},
};

const bool kListed = list_fixtures(kRecorded);

TEST(OpenAiFixtures, EveryStreamGivesItsOutcomeInAnyCuts) {
  NEEDS_FIXTURES();
  for (const Recorded& recorded : kRecorded) {
    SCOPED_TRACE(recorded.name);
    const Replayed replayed = replay(*dialect_of(recorded.spoken), load_fixture(recorded.name).body);
    EXPECT_EQ(api::outcome_text(replayed.outcome), recorded.outcome);
    if (replayed.outcome) EXPECT_EQ(replayed.streamed, replayed.outcome->message.text);
  }
}

// The recorded client sent the turn back, and so do we: the same encrypted reasoning before the same text.
TEST(OpenAiFixtures, EncryptedReasoningGoesBackAsTheRecordedClientSentIt) {
  NEEDS_FIXTURES();
  const auto dialect = openai_responses_dialect();
  const Replayed first =
      replay(*dialect, load_fixture("openai-responses/reasoning-encrypted-store-false.sse").body);
  ASSERT_TRUE(first.outcome);
  const auto sent = parse_json("[" + dialect->encode(first.outcome->message) + "]");
  ASSERT_TRUE(sent);
  const auto recorded = load_fixture("openai-responses/reasoning-encrypted-replay.sse").request;
  const json::array* input = array_at(recorded, "input");
  ASSERT_TRUE(input != nullptr && input->size() == 4 && sent->get_array().size() == 2);
  EXPECT_EQ(sent->at(0).at("encrypted_content"), input->at(1).at("encrypted_content"));
  EXPECT_EQ(sent->at(0).at("summary"), input->at(1).at("summary"));
  EXPECT_EQ(sent->at(1).at("content").at(0).at("text"), input->at(2).at("content").at(0).at("text"));
}

}  // namespace
}  // namespace deputy
