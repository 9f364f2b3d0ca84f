#include "model/gemini_turn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/text.h"
#include "model/json_string.h"
#include "model/wire.h"

namespace deputy::gemini {

namespace {

// What Google documents for the first call of a turn that another model wrote: calls must be signed.
constexpr std::string_view kForeignSignature = "skip_thought_signature_validator";

std::string id_member(std::string_view id) {
  if (id.empty() || id.starts_with(kLocalId)) return "";
  return fmt::format(R"(,"id":{})", json_string(id));
}

std::string result_part(const ToolResult& result) {
  const std::string_view name = result.name.empty() ? std::string_view("unknown") : result.name;
  return fmt::format(R"({{"functionResponse":{{"name":{}{},"response":{{"{}":{}}}}}}})", json_string(name),
                     id_member(result.call_id), result.status == ToolStatus::error ? "error" : "output",
                     json_string(result.content));
}

std::string turn(std::string_view role, std::span<const std::string> parts) {
  return fmt::format(R"({{"role":"{}","parts":[{}]}})", role, fmt::join(parts, ","));
}

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

std::string said_part(std::string_view text) { return text_part(is_blank(text) ? "(no text)" : text); }

}  // namespace

std::string user_turn(const Message& message) { return turn("user", std::vector{said_part(message.text)}); }

std::string result_turn(const Message& message) {
  std::vector<std::string> parts;
  for (const ToolResult& result : message.results) parts.push_back(result_part(result));
  if (!is_blank(message.text) || parts.empty()) parts.push_back(said_part(message.text));
  return turn("user", parts);
}

std::string model_turn(const Message& message) {
  std::vector<std::string> parts;
  if (!is_blank(message.text) || message.calls.empty()) parts.push_back(said_part(message.text));
  for (const Call& call : message.calls) {
    parts.push_back(call_part(call, &call == message.calls.data() ? kForeignSignature : ""));
  }
  return model_turn(parts);
}

std::string model_turn(std::span<const std::string> parts) { return turn("model", parts); }

std::string text_part(std::string_view text) { return fmt::format(R"({{"text":{}}})", json_string(text)); }

std::string call_part(const Call& call, std::string_view signature) {
  const std::string signed_with =
      signature.empty() ? "" : fmt::format(R"(,"thoughtSignature":{})", json_string(signature));
  return fmt::format(R"({{"functionCall":{{"name":{},"args":{}{}}}{}}})", json_string(call.name),
                     api::as_object(call.arguments), id_member(call.id), signed_with);
}

}  // namespace deputy::gemini
