#include "model/anthropic.h"

#include <fmt/format.h>

#include "model/anthropic_decoder.h"
#include "model/anthropic_turn.h"
#include "model/api_errors.h"
#include "model/json_string.h"
#include "model/wire.h"

namespace deputy {

namespace {

// Two places are cached. This one, on the last block that all steps and all siblings have in common; and the
// one that the cache_control of the whole request moves along with the conversation, without a change in any
// message that was sent before.
constexpr std::string_view kCached = R"("cache_control":{"type":"ephemeral"})";

std::string tools_of(const RequestPrefix& prefix) {
  std::string tools;
  for (const ToolOffer& tool : prefix.tools) {
    const bool is_last_stable = prefix.system.empty() && &tool == &prefix.tools.back();
    tools += fmt::format(R"({}{{"name":{},"description":{},"input_schema":{}{}{}}})",
                         tools.empty() ? "" : ",", json_string(tool.name), json_string(tool.description),
                         api::schema_of(tool), is_last_stable ? "," : "", is_last_stable ? kCached : "");
  }
  return tools;
}

class AnthropicDialect final : public Dialect {
 public:
  std::string_view provider() const override { return anthropic::kProvider; }

  std::string encode(const Message& message) const override {
    if (message.role == Role::user) return anthropic::user_turn(message);
    if (message.role == Role::tool) return anthropic::result_turn(message);
    if (const auto own = api::own_wire(message, anthropic::kProvider)) return std::string(*own);
    return anthropic::assistant_turn(message);
  }

  EncodedPrefix encode(const RequestPrefix& prefix) const override {
    std::string head = fmt::format(R"({{"model":{},"max_tokens":{},"stream":true)",
                                   json_string(bare_name(prefix.model)), prefix.max_output_tokens);
    if (!prefix.tools.empty()) head += fmt::format(R"(,"tools":[{}])", tools_of(prefix));
    if (!prefix.system.empty()) {
      head +=
          fmt::format(R"(,"system":[{{"type":"text","text":{},{}}}])", json_string(prefix.system), kCached);
    }
    // Messages last: so a request begins with all of the one before it, but for two brackets.
    return {.head = fmt::format(R"({},{},"messages":[)", head, kCached), .tail = "]}"};
  }

  HttpRequest address(const ModelName&, const Endpoint& endpoint) const override {
    HttpRequest request{.method = "POST", .url = endpoint.base_url + "/v1/messages"};
    request.headers = {{"content-type", "application/json"},
                       {"accept", "text/event-stream"},
                       {"anthropic-version", "2023-06-01"}};
    if (!endpoint.key.empty()) request.headers.push_back({"x-api-key", endpoint.key});
    return request;
  }

  std::unique_ptr<ReplyDecoder> decoder() const override { return anthropic::make_decoder(); }

  Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const override {
    return api::http_failure(response, body, now);
  }
};

}  // namespace

std::unique_ptr<Dialect> anthropic_dialect() { return std::make_unique<AnthropicDialect>(); }

}  // namespace deputy
