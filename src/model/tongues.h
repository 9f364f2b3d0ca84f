// For tests: what each provider's server would answer, in its own tongue, and a dialect that speaks to it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/anthropic.h"
#include "model/dialect.h"
#include "model/gemini.h"
#include "model/ollama.h"
#include "model/openai_chat.h"
#include "model/openai_responses.h"
#include "net/sim_network.h"

namespace deputy {

enum class Tongue { anthropic, openai_responses, openai_chat, compatible, gemini, ollama };
inline constexpr std::array kTongues{Tongue::anthropic,  Tongue::openai_responses, Tongue::openai_chat,
                                     Tongue::compatible, Tongue::gemini,           Tongue::ollama};

inline std::unique_ptr<Dialect> dialect_of(Tongue tongue) {
  switch (tongue) {
    case Tongue::anthropic:
      return anthropic_dialect();
    case Tongue::openai_responses:
      return openai_responses_dialect();
    case Tongue::openai_chat:
      return openai_chat_dialect(ChatFlavour::openai);
    case Tongue::compatible:
      return openai_chat_dialect(ChatFlavour::compatible);
    case Tongue::gemini:
      return gemini_dialect();
    case Tongue::ollama:
      return ollama_dialect();
  }
  return nullptr;
}

// What a server says in one answer.
struct Said {
  std::string text = {};
  std::vector<Call> calls = {};
  std::int64_t input = 100;
  std::int64_t output = 10;
  bool is_cut_off = false;  // by the output cap
};

namespace tongues_internal {

inline std::string event(const json::object& data, bool is_named = true) {
  const std::string name = is_named ? "event: " + string_or(data, "type", "") + "\n" : "";
  return name + "data: " + to_json_text(data) + "\n\n";
}

inline std::string anthropic_body(const Said& said) {
  std::string body = event({{"type", "message_start"},
                            {"message",
                             {{"id", "msg_1"},
                              {"type", "message"},
                              {"role", "assistant"},
                              {"model", "test"},
                              {"content", json::array{}},
                              {"stop_reason", nullptr},
                              {"usage", {{"input_tokens", said.input}, {"output_tokens", 1}}}}}});
  int index = 0;
  const auto block = [&](json::object start, json::object delta) {
    body += event({{"type", "content_block_start"}, {"index", index}, {"content_block", std::move(start)}});
    body += event({{"type", "content_block_delta"}, {"index", index}, {"delta", std::move(delta)}});
    body += event({{"type", "content_block_stop"}, {"index", index++}});
  };
  if (!said.text.empty())
    block({{"type", "text"}, {"text", ""}}, {{"type", "text_delta"}, {"text", said.text}});
  for (const Call& call : said.calls) {
    block({{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", json::object{}}},
          {{"type", "input_json_delta"}, {"partial_json", call.arguments}});
  }
  const char* stop = said.is_cut_off ? "max_tokens" : said.calls.empty() ? "end_turn" : "tool_use";
  body += event({{"type", "message_delta"},
                 {"delta", {{"stop_reason", stop}, {"stop_sequence", nullptr}}},
                 {"usage", {{"output_tokens", said.output}}}});
  return body + event({{"type", "message_stop"}});
}

inline std::string responses_body(const Said& said) {
  std::string body =
      event({{"type", "response.created"}, {"response", {{"id", "resp_1"}, {"status", "in_progress"}}}});
  json::array output;
  const auto add = [&](const json::object& begun, const json::object& delta, const json::object& done) {
    const auto index = static_cast<std::int64_t>(output.size());
    json::object piece = delta;
    piece["output_index"] = index;
    body += event({{"type", "response.output_item.added"}, {"output_index", index}, {"item", begun}});
    body += event(piece);
    body += event({{"type", "response.output_item.done"}, {"output_index", index}, {"item", done}});
    output.push_back(done);
  };
  if (!said.text.empty()) {
    json::object item{{"type", "message"},
                      {"id", "msg_1"},
                      {"role", "assistant"},
                      {"status", "in_progress"},
                      {"content", json::array{}}};
    json::object done = item;
    done["status"] = "completed";
    done["content"] = json::array{
        json::object{{"type", "output_text"}, {"text", said.text}, {"annotations", json::array{}}}};
    add(item,
        {{"type", "response.output_text.delta"},
         {"item_id", "msg_1"},
         {"content_index", 0},
         {"delta", said.text}},
        done);
  }
  for (const Call& call : said.calls) {
    json::object item{{"type", "function_call"},
                      {"id", "fc_" + call.id},
                      {"call_id", call.id},
                      {"name", call.name},
                      {"arguments", ""}};
    json::object done = item;
    done["arguments"] = call.arguments;
    done["status"] = said.is_cut_off ? "incomplete" : "completed";
    add(item,
        {{"type", "response.function_call_arguments.delta"},
         {"item_id", "fc_" + call.id},
         {"delta", call.arguments}},
        done);
  }
  json::object response{{"id", "resp_1"},
                        {"status", said.is_cut_off ? "incomplete" : "completed"},
                        {"output", output},
                        {"usage",
                         {{"input_tokens", said.input},
                          {"input_tokens_details", {{"cached_tokens", 0}}},
                          {"output_tokens", said.output},
                          {"output_tokens_details", {{"reasoning_tokens", 0}}},
                          {"total_tokens", said.input + said.output}}}};
  if (said.is_cut_off) response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  return body + event({{"type", said.is_cut_off ? "response.incomplete" : "response.completed"},
                       {"response", std::move(response)}});
}

inline std::string chat_body(const Said& said) {
  const auto chunk = [](json::object delta, const json::value& finish) {
    return event({{"id", "c_1"},
                  {"object", "chat.completion.chunk"},
                  {"choices", json::array{json::object{
                                  {"index", 0}, {"delta", std::move(delta)}, {"finish_reason", finish}}}}},
                 false);
  };
  std::string body = chunk({{"role", "assistant"}, {"content", said.text}}, nullptr);
  for (std::size_t i = 0; i < said.calls.size(); ++i) {
    const Call& call = said.calls[i];
    body += chunk({{"tool_calls", json::array{json::object{
                                      {"index", i},
                                      {"id", call.id},
                                      {"type", "function"},
                                      {"function", {{"name", call.name}, {"arguments", call.arguments}}}}}}},
                  nullptr);
  }
  body += chunk({}, said.is_cut_off ? "length" : said.calls.empty() ? "stop" : "tool_calls");
  body += event({{"id", "c_1"},
                 {"object", "chat.completion.chunk"},
                 {"choices", json::array{}},
                 {"usage",
                  {{"prompt_tokens", said.input},
                   {"completion_tokens", said.output},
                   {"total_tokens", said.input + said.output}}}},
                false);
  return body + "data: [DONE]\n\n";
}

inline json::value arguments_of(const Call& call) {
  const auto parsed = parse_json(call.arguments);
  return parsed ? *parsed : json::value(json::object{});
}

inline std::string gemini_body(const Said& said) {
  json::array parts;
  if (!said.text.empty()) parts.push_back(json::object{{"text", said.text}});
  for (const Call& call : said.calls) {
    parts.push_back(
        json::object{{"functionCall", {{"id", call.id}, {"name", call.name}, {"args", arguments_of(call)}}}});
  }
  return event(
      {{"candidates", json::array{json::object{{"content", {{"parts", parts}, {"role", "model"}}},
                                               {"finishReason", said.is_cut_off ? "MAX_TOKENS" : "STOP"},
                                               {"index", 0}}}},
       {"usageMetadata",
        {{"promptTokenCount", said.input},
         {"candidatesTokenCount", said.output},
         {"totalTokenCount", said.input + said.output}}}},
      false);
}

inline std::string ollama_body(const Said& said) {
  json::object message{{"role", "assistant"}, {"content", said.text}};
  json::array calls;
  for (const Call& call : said.calls) {
    calls.push_back(json::object{{"function", {{"name", call.name}, {"arguments", arguments_of(call)}}}});
  }
  if (!calls.empty()) message["tool_calls"] = calls;
  return to_json_text(json::object{{"model", "test"}, {"message", message}, {"done", false}}) + "\n" +
         to_json_text(json::object{{"model", "test"},
                                   {"message", {{"role", "assistant"}, {"content", ""}}},
                                   {"done", true},
                                   {"done_reason", said.is_cut_off ? "length" : "stop"},
                                   {"prompt_eval_count", said.input},
                                   {"eval_count", said.output}}) +
         "\n";
}

}  // namespace tongues_internal

inline SimExchange answer_in(Tongue tongue, const Said& said) {
  using namespace tongues_internal;
  const auto streamed = [](const char* type, std::string body) {
    return SimExchange{.headers = {{"content-type", type}}, .chunks = {{std::move(body)}}};
  };
  switch (tongue) {
    case Tongue::anthropic:
      return streamed("text/event-stream; charset=utf-8", anthropic_body(said));
    case Tongue::openai_responses:
      return streamed("text/event-stream; charset=utf-8", responses_body(said));
    case Tongue::openai_chat:
    case Tongue::compatible:
      return streamed("text/event-stream", chat_body(said));
    case Tongue::gemini:
      return streamed("text/event-stream", gemini_body(said));
    case Tongue::ollama:
      return streamed("application/x-ndjson", ollama_body(said));
  }
  return {};
}

inline SimExchange too_many_requests(Tongue tongue) {
  json::value body;
  switch (tongue) {
    case Tongue::anthropic:
      body = {{"type", "error"}, {"error", {{"type", "rate_limit_error"}, {"message", "slow down"}}}};
      break;
    case Tongue::openai_responses:
    case Tongue::openai_chat:
    case Tongue::compatible:
      body = {{"error", {{"message", "slow down"}, {"type", "requests"}, {"code", "rate_limit_exceeded"}}}};
      break;
    case Tongue::gemini:
      body = {{"error", {{"code", 429}, {"message", "slow down"}, {"status", "RESOURCE_EXHAUSTED"}}}};
      break;
    case Tongue::ollama:
      body = {{"error", "slow down"}};
      break;
  }
  return {.status = 429,
          .headers = {{"content-type", "application/json"}, {"retry-after", "1"}},
          .chunks = {{to_json_text(body)}}};
}

}  // namespace deputy
