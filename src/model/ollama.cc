#include "model/ollama.h"

#include <fmt/format.h>

#include "model/api_errors.h"
#include "model/json_string.h"
#include "model/ollama_decoder.h"
#include "model/wire.h"

namespace deputy {

namespace {

std::string results_text(const std::vector<ToolResult>& results) {
  std::string text;
  for (const ToolResult& result : results) {
    // Some templates go by the tool's name, others by the call's id.
    const std::string name =
        result.name.empty() ? "" : fmt::format(R"("tool_name":{},)", json_string(result.name));
    text += fmt::format(R"({}{{"role":"tool",{}"tool_call_id":{},"content":{}}})", text.empty() ? "" : ",",
                        name, json_string(result.call_id), json_string(api::text_of(result)));
  }
  return text;
}

class OllamaDialect final : public Dialect {
 public:
  explicit OllamaDialect(WindowOf window) : window_(std::move(window)) {}

  std::string_view provider() const override { return api::kOllamaProvider; }

  std::string encode(const Message& message) const override {
    if (message.role == Role::assistant) {
      if (const auto wire = api::own_wire(message, provider())) return std::string(*wire);
      return api::ollama_turn(message, "");
    }
    if (!message.results.empty()) return results_text(message.results);
    return fmt::format(R"({{"role":"user","content":{}}})", json_string(message.text));
  }

  EncodedPrefix encode(const RequestPrefix& prefix) const override {
    const auto window = window_ ? window_(prefix.model) : std::nullopt;
    EncodedPrefix encoded;
    encoded.head = fmt::format(
        R"({{"model":{},"stream":true,"truncate":false,"shift":false,"options":{{{}"num_predict":{}}},{}"messages":[)",
        json_string(bare_name(prefix.model)), window ? fmt::format(R"("num_ctx":{},)", *window) : "",
        prefix.max_output_tokens, api::function_tools(prefix.tools));
    if (!prefix.system.empty()) {
      encoded.head += fmt::format(R"({{"role":"system","content":{}}},)", json_string(prefix.system));
    }
    encoded.tail = "]}";
    return encoded;
  }

  HttpRequest address(const ModelName&, const Endpoint& endpoint) const override {
    return api::post_request(endpoint.base_url + "/api/chat", endpoint, "application/x-ndjson");
  }

  std::unique_ptr<ReplyDecoder> decoder() const override { return std::make_unique<api::OllamaDecoder>(); }

  Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const override {
    return api::http_failure(response, body, now);
  }

 private:
  WindowOf window_;
};

}  // namespace

std::unique_ptr<Dialect> ollama_dialect(WindowOf window) {
  return std::make_unique<OllamaDialect>(std::move(window));
}

}  // namespace deputy
