#include "model/gemini.h"

#include <fmt/format.h>

#include "model/gemini_decoder.h"
#include "model/gemini_errors.h"
#include "model/gemini_turn.h"
#include "model/json_string.h"
#include "model/wire.h"

namespace deputy {

namespace {

std::string declarations_of(const RequestPrefix& prefix) {
  std::string declarations;
  for (const ToolOffer& tool : prefix.tools) {
    declarations += fmt::format(R"({}{{"name":{},"description":{},"parametersJsonSchema":{}}})",
                                declarations.empty() ? "" : ",", json_string(tool.name),
                                json_string(tool.description), api::schema_of(tool));
  }
  return declarations;
}

// A model's name is a part of the address, whatever somebody wrote there.
std::string in_path(std::string_view name) {
  std::string path;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-_.~/").contains(c);
    path += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return path;
}

class GeminiDialect final : public Dialect {
 public:
  std::string_view provider() const override { return gemini::kProvider; }

  std::string encode(const Message& message) const override {
    if (message.role == Role::user) return gemini::user_turn(message);
    if (message.role == Role::tool) return gemini::result_turn(message);
    if (const auto own = api::own_wire(message, gemini::kProvider)) return std::string(*own);
    return gemini::model_turn(message);
  }

  EncodedPrefix encode(const RequestPrefix& prefix) const override {
    std::string head = "{";
    if (!prefix.system.empty()) {
      head += fmt::format(R"("systemInstruction":{{"parts":[{}]}},)", gemini::text_part(prefix.system));
    }
    if (!prefix.tools.empty()) {
      head += fmt::format(R"("tools":[{{"functionDeclarations":[{}]}}],)", declarations_of(prefix));
    }
    head +=
        fmt::format(R"("generationConfig":{{"maxOutputTokens":{}}},"contents":[)", prefix.max_output_tokens);
    return {.head = std::move(head), .tail = "]}"};
  }

  HttpRequest address(const ModelName& model, const Endpoint& endpoint) const override {
    HttpRequest request{.method = "POST",
                        .url = fmt::format("{}/v1beta/models/{}:streamGenerateContent?alt=sse",
                                           endpoint.base_url, in_path(bare_name(model)))};
    request.headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}};
    if (!endpoint.key.empty()) request.headers.push_back({"x-goog-api-key", endpoint.key});
    return request;
  }

  std::unique_ptr<ReplyDecoder> decoder() const override { return gemini::make_decoder(); }

  Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const override {
    return gemini::http_failure(response, body, now);
  }
};

}  // namespace

std::unique_ptr<Dialect> gemini_dialect() { return std::make_unique<GeminiDialect>(); }

}  // namespace deputy
