#include "model/openai_chat.h"

#include <fmt/format.h>

#include "model/api_errors.h"
#include "model/json_string.h"
#include "model/openai_chat_decoder.h"
#include "model/openai_chat_turn.h"
#include "model/wire.h"

namespace deputy {

namespace {

std::string results_text(const std::vector<ToolResult>& results) {
  std::string text;
  for (const ToolResult& result : results) {
    text += fmt::format(R"({}{{"role":"tool","tool_call_id":{},"content":{}}})", text.empty() ? "" : ",",
                        json_string(result.call_id), json_string(api::text_of(result)));
  }
  return text;
}

class ChatDialect final : public Dialect {
 public:
  explicit ChatDialect(ChatFlavour flavour) : flavour_(flavour) {}

  std::string_view provider() const override { return api::name_of(flavour_); }

  std::string encode(const Message& message) const override {
    if (message.role == Role::assistant) {
      if (const auto wire = api::own_wire(message, provider())) return std::string(*wire);
      return to_json_text(api::chat_turn(message, flavour_));
    }
    if (!message.results.empty()) return results_text(message.results);
    return fmt::format(R"({{"role":"user","content":{}}})", json_string(message.text));
  }

  // No prompt_cache_key: OpenAI sends requests with an equal beginning the same way without one.
  EncodedPrefix encode(const RequestPrefix& prefix) const override {
    const bool is_openai = flavour_ == ChatFlavour::openai;
    EncodedPrefix encoded;
    encoded.head = fmt::format(
        R"({{"model":{},"stream":true,"stream_options":{{"include_usage":true}},"{}":{},{}"messages":[)",
        json_string(bare_name(prefix.model)), is_openai ? "max_completion_tokens" : "max_tokens",
        prefix.max_output_tokens, api::function_tools(prefix.tools));
    if (!prefix.system.empty()) {
      encoded.head += fmt::format(R"({{"role":"system","content":{}}},)", json_string(prefix.system));
    }
    encoded.tail = "]}";
    return encoded;
  }

  HttpRequest address(const ModelName&, const Endpoint& endpoint) const override {
    return api::post_request(endpoint.base_url + "/chat/completions", endpoint, "text/event-stream");
  }

  std::unique_ptr<ReplyDecoder> decoder() const override {
    return std::make_unique<api::ChatDecoder>(flavour_);
  }

  Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const override {
    return api::http_failure(response, body, now);
  }

 private:
  ChatFlavour flavour_;
};

}  // namespace

json::object api::chat_turn(const Message& message, ChatFlavour flavour) {
  json::object turn{{"role", "assistant"}, {"content", message.text}};
  if (message.calls.empty()) return turn;
  if (message.text.empty()) turn["content"] = nullptr;
  json::array calls;
  for (const Call& call : message.calls) {
    // OpenAI takes any text back; other servers parse it for their templates, and refuse what they cannot.
    const std::string arguments =
        flavour == ChatFlavour::openai ? call.arguments : api::as_object(call.arguments);
    calls.push_back({{"id", call.id},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", arguments}}}});
  }
  turn["tool_calls"] = std::move(calls);
  return turn;
}

std::unique_ptr<Dialect> openai_chat_dialect(ChatFlavour flavour) {
  return std::make_unique<ChatDialect>(flavour);
}

}  // namespace deputy
