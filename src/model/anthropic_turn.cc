#include "model/anthropic_turn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "model/json_string.h"
#include "model/wire.h"

namespace deputy::anthropic {

namespace {

constexpr std::size_t kMaxNameBytes = 64;

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::string text_block(std::string_view text) {
  const std::string_view shown = trimmed(text).empty() ? "(no text)" : text;
  return fmt::format(R"({{"type":"text","text":{}}})", json_string(shown));
}

std::string call_block(const Call& call) {
  return fmt::format(R"({{"type":"tool_use","id":{},"name":{},"input":{}}})", json_string(safe_name(call.id)),
                     json_string(safe_name(call.name)), api::as_object(call.arguments));
}

std::string result_block(const ToolResult& result) {
  const bool is_error = result.status == ToolStatus::error;
  // An error without content is refused.
  const std::string content = is_error && result.content.empty() ? "it failed" : result.content;
  return fmt::format(R"({{"type":"tool_result","tool_use_id":{},"content":{}{}}})",
                     json_string(safe_name(result.call_id)), json_string(content),
                     is_error ? R"(,"is_error":true)" : "");
}

std::string turn(std::string_view role, std::span<const std::string> blocks) {
  return fmt::format(R"({{"role":"{}","content":[{}]}})", role, fmt::join(blocks, ","));
}

}  // namespace

std::string user_turn(const Message& message) { return turn("user", std::vector{text_block(message.text)}); }

std::string result_turn(const Message& message) {
  std::vector<std::string> blocks;
  for (const ToolResult& result : message.results) blocks.push_back(result_block(result));
  if (!trimmed(message.text).empty() || blocks.empty()) blocks.push_back(text_block(message.text));
  return turn("user", blocks);
}

std::string assistant_turn(const Message& message) {
  std::vector<std::string> blocks;
  if (!trimmed(message.text).empty() || message.calls.empty()) blocks.push_back(text_block(message.text));
  for (const Call& call : message.calls) blocks.push_back(call_block(call));
  return assistant_turn(blocks);
}

std::string assistant_turn(std::span<const std::string> blocks) { return turn("assistant", blocks); }

std::string safe_name(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, is_safe)) {
    return std::string(name);
  }
  std::string safe(name.substr(0, kMaxNameBytes - 9));
  std::ranges::replace_if(safe, std::not_fn(is_safe), '_');
  return fmt::format("{}_{:08x}", safe, crc32(name));
}

}  // namespace deputy::anthropic
