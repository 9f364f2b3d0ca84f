#include "model/openai_responses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/api_errors.h"
#include "model/json_string.h"
#include "model/openai_responses_decoder.h"
#include "model/wire.h"

namespace deputy {

namespace {

// Models that do not reason refuse to be asked for their encrypted reasoning. New ones all do.
bool can_reason(std::string_view model) {
  static constexpr std::array<std::string_view, 4> kOld{"gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-"};
  return std::ranges::none_of(kOld, [&](std::string_view name) { return model.starts_with(name); });
}

// Strict mode, the default here, would demand schemas of another form.
std::string tools_text(const std::vector<ToolOffer>& tools) {
  std::string text;
  for (const ToolOffer& tool : tools) {
    text += fmt::format(
        R"({}{{"type":"function","name":{},"description":{},"parameters":{},"strict":false}})",
        text.empty() ? "" : ",", json_string(tool.name), json_string(tool.description), api::schema_of(tool));
  }
  return text.empty() ? "" : fmt::format(R"("tools":[{}],)", text);
}

std::string results_text(const std::vector<ToolResult>& results) {
  std::string text;
  for (const ToolResult& result : results) {
    text +=
        fmt::format(R"({}{{"type":"function_call_output","call_id":{},"output":{}}})",
                    text.empty() ? "" : ",", json_string(result.call_id), json_string(api::text_of(result)));
  }
  return text;
}

// From what is known of a turn that another provider made. Without item ids: they would name what is not
// stored.
std::string turn_text(const Message& message) {
  std::string text;
  if (!message.text.empty() || message.calls.empty()) {
    text = fmt::format(R"({{"role":"assistant","content":[{{"type":"output_text","text":{}}}]}})",
                       json_string(message.text));
  }
  for (const Call& call : message.calls) {
    text += fmt::format(R"({}{{"type":"function_call","call_id":{},"name":{},"arguments":{}}})",
                        text.empty() ? "" : ",", json_string(call.id), json_string(call.name),
                        json_string(call.arguments));
  }
  return text;
}

class ResponsesDialect final : public Dialect {
 public:
  std::string_view provider() const override { return api::kResponsesProvider; }

  std::string encode(const Message& message) const override {
    if (message.role == Role::assistant) {
      if (const auto wire = api::own_wire(message, provider())) return std::string(*wire);
      return turn_text(message);
    }
    if (!message.results.empty()) return results_text(message.results);
    return fmt::format(R"({{"role":"user","content":[{{"type":"input_text","text":{}}}]}})",
                       json_string(message.text));
  }

  // No prompt_cache_key: OpenAI sends requests with an equal beginning the same way without one.
  EncodedPrefix encode(const RequestPrefix& prefix) const override {
    const std::string_view model = bare_name(prefix.model);
    EncodedPrefix encoded;
    encoded.head = fmt::format(
        R"({{"model":{},"stream":true,"store":false,{}"max_output_tokens":{},{}{}"input":[)",
        json_string(model), can_reason(model) ? R"("include":["reasoning.encrypted_content"],)" : "",
        prefix.max_output_tokens, instructions_text(prefix.system), tools_text(prefix.tools));
    encoded.tail = "]}";
    return encoded;
  }

  HttpRequest address(const ModelName&, const Endpoint& endpoint) const override {
    return api::post_request(endpoint.base_url + "/responses", endpoint, "text/event-stream");
  }

  std::unique_ptr<ReplyDecoder> decoder() const override { return std::make_unique<api::ResponsesDecoder>(); }

  Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const override {
    return api::http_failure(response, body, now);
  }

 private:
  static std::string instructions_text(std::string_view system) {
    return system.empty() ? "" : fmt::format(R"("instructions":{},)", json_string(system));
  }
};

}  // namespace

std::unique_ptr<Dialect> openai_responses_dialect() { return std::make_unique<ResponsesDialect>(); }

}  // namespace deputy
