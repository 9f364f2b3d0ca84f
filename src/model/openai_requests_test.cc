// What each dialect of the OpenAI family sends over ten steps, byte for byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json_string.h"
#include "model/ollama.h"
#include "model/openai_chat.h"
#include "model/openai_responses.h"
#include "model/ten_steps.h"
#include "support/golden.h"

namespace deputy {
namespace {

std::string chat_stream(const ScriptedTurn& turn, int n) {
  const auto chunk = [](std::string_view delta) {
    return fmt::format("data: {{\"id\":\"r\",\"choices\":[{{\"index\":0,\"delta\":{}}}]}}\n\n", delta);
  };
  std::string body;
  if (!turn.thinking.empty())
    body += chunk(fmt::format(R"({{"reasoning_content":{}}})", json_string(turn.thinking)));
  if (!turn.text.empty()) body += chunk(fmt::format(R"({{"content":{}}})", json_string(turn.text)));
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    body += chunk(fmt::format(
        R"({{"tool_calls":[{{"index":{0},"id":"call_{1}_{0}","function":{{"name":{2},"arguments":{3}}}}}]}})",
        i, n, json_string(turn.calls[i].name), json_string(turn.calls[i].arguments)));
  }
  return body +
         "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
}

std::string responses_stream(const ScriptedTurn& turn, int n) {
  int place = 0;
  const auto item = [&place](std::string_view json) {
    return fmt::format("data: {{\"type\":\"response.output_item.done\",\"output_index\":{},\"item\":{}}}\n\n",
                       place++, json);
  };
  std::string body;
  if (!turn.thinking.empty()) {
    body += item(fmt::format(
        R"({{"id":"rs_{}","type":"reasoning","summary":[],"encrypted_content":"gAAAA{}=="}})", n, n));
  }
  if (!turn.text.empty()) {
    body += item(fmt::format(
        R"({{"id":"msg_{}","type":"message","role":"assistant","content":[{{"type":"output_text","text":{}}}]}})",
        n, json_string(turn.text)));
  }
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    body += item(fmt::format(
        R"({{"id":"fc_{0}_{1}","type":"function_call","call_id":"call_{0}_{1}","name":{2},"arguments":{3}}})",
        n, i, json_string(turn.calls[i].name), json_string(turn.calls[i].arguments)));
  }
  return body + "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
}

std::string ollama_stream(const ScriptedTurn& turn, int n) {
  std::string calls;
  for (const Call& call : turn.calls) {
    const bool is_json = parse_json_object(call.arguments).has_value();
    calls += fmt::format(R"({}{{"function":{{"name":{},"arguments":{}}}}})", calls.empty() ? "" : ",",
                         json_string(call.name), is_json ? call.arguments : json_string(call.arguments));
  }
  return fmt::format(
      R"({{"created_at":"2026-01-01T00:00:{:02}Z","message":{{"role":"assistant","content":{},"thinking":{},"tool_calls":[{}]}},"done":true}})",
      n, json_string(turn.text), json_string(turn.thinking), calls);
}

struct Spoken {
  std::string_view golden;
  std::unique_ptr<Dialect> dialect;
  std::string model;
  StreamOf stream;
};

std::vector<Spoken> all_spoken() {
  std::vector<Spoken> all;
  all.push_back({"openai_ten_steps.jsonl", openai_responses_dialect(), "openai/gpt-5.5", responses_stream});
  all.push_back({"openai_chat_ten_steps.jsonl", openai_chat_dialect(ChatFlavour::openai),
                 "openai-chat/gpt-4.1", chat_stream});
  all.push_back({"compatible_ten_steps.jsonl", openai_chat_dialect(ChatFlavour::compatible),
                 "compatible/qwen/qwen3", chat_stream});
  all.push_back({"ollama_ten_steps.jsonl", ollama_dialect([](const ModelName&) { return 32768; }),
                 "ollama/qwen3:14b", ollama_stream});
  return all;
}

TEST(OpenAiRequests, TenStepsAreAsWrittenDown) {
  for (const Spoken& spoken : all_spoken()) {
    SCOPED_TRACE(spoken.golden);
    const PlayedSteps played =
        play(*spoken.dialect, ten_steps_prefix(spoken.model), "Look at a.cc and b.cc.", spoken.stream);
    expect_growing(played);
    expect_golden(std::string(spoken.golden), one_a_line(played));
  }
}

TEST(OpenAiRequests, SiblingsShareTheirPrefixByteForByte) {
  for (const Spoken& spoken : all_spoken()) {
    SCOPED_TRACE(spoken.golden);
    const std::string head = spoken.dialect->encode(ten_steps_prefix(spoken.model)).head;
    for (const char* prompt : {"Look at a.cc.", "Look at b.cc."}) {
      const PlayedSteps played = play(*spoken.dialect, ten_steps_prefix(spoken.model), prompt, spoken.stream);
      for (const std::string& body : played.bodies) EXPECT_TRUE(body.starts_with(head));
    }
    EXPECT_TRUE(head.contains("You explore.") && head.contains("Reads a file.")) << "system prompt and tools";
  }
}

}  // namespace
}  // namespace deputy
