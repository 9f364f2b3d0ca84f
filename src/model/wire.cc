#include "model/wire.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "model/json_string.h"

namespace deputy::api {

std::string schema_of(const ToolOffer& tool) {
  std::string text = tool.schema;
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
  const std::string_view object = trimmed(text);
  return object.starts_with('{') && object.ends_with('}') ? std::string(object) : R"({"type":"object"})";
}

std::string function_tools(const std::vector<ToolOffer>& tools) {
  std::string text;
  for (const ToolOffer& tool : tools) {
    text += fmt::format(
        R"({}{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}})",
        text.empty() ? "" : ",", json_string(tool.name), json_string(tool.description), schema_of(tool));
  }
  return text.empty() ? "" : fmt::format(R"("tools":[{}],)", text);
}

std::string as_object(std::string_view arguments) {
  const std::string_view text = trimmed(arguments);
  if (text.empty()) return "{}";
  if (parse_json_object(text)) return std::string(text);
  return fmt::format(R"({{"invalid_arguments":{}}})", json_string(arguments));
}

std::string text_of(const ToolResult& result) {
  return result.status == ToolStatus::error ? "Error: " + result.content : result.content;
}

std::string wire_for(std::string_view provider, std::string_view turn) {
  return fmt::format("{}\n{}", provider, turn);
}

std::optional<std::string_view> own_wire(const Message& message, std::string_view provider) {
  std::string_view wire = message.wire;
  if (!wire.starts_with(provider)) return std::nullopt;
  wire.remove_prefix(provider.size());
  if (!wire.starts_with('\n') || wire.size() == 1) return std::nullopt;
  return wire.substr(1);
}

HttpRequest post_request(std::string url, const Endpoint& endpoint, std::string_view accept) {
  HttpRequest request{.method = "POST", .url = std::move(url)};
  request.headers = {{"content-type", "application/json"}, {"accept", std::string(accept)}};
  if (!endpoint.key.empty()) request.headers.push_back({"authorization", "Bearer " + endpoint.key});
  return request;
}

}  // namespace deputy::api
