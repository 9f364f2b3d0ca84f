#include "model/offline.h"

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kPieceBytes = 80;
constexpr std::int64_t kBytesPerToken = 4;

std::size_t bytes_of(const Message& message) {
  std::size_t bytes = message.text.size() + message.thinking.size();
  for (const Call& call : message.calls) bytes += call.name.size() + call.arguments.size();
  for (const ToolResult& result : message.results) bytes += result.content.size();
  return bytes;
}

std::int64_t tokens(std::size_t bytes) {
  return (static_cast<std::int64_t>(bytes) + kBytesPerToken - 1) / kBytesPerToken;
}

}  // namespace

int step_of(std::span<const Message> messages) {
  return static_cast<int>(std::ranges::count(messages, Role::assistant, &Message::role));
}

Usage estimated_usage(const Request& request, const Message& reply) {
  std::size_t asked = 0;
  if (request.prefix) {
    asked += request.prefix->system.size();
    for (const ToolOffer& tool : request.prefix->tools) {
      asked += tool.name.size() + tool.description.size() + tool.schema.size();
    }
  }
  for (const Message& message : request.messages) asked += bytes_of(message);
  Usage usage;
  usage.input = tokens(asked);
  usage.output = tokens(bytes_of(reply));
  return usage;
}

void stream_text(std::string_view text, const DeltaSink& deltas) {
  if (!deltas) return;
  while (!text.empty()) {
    std::string_view piece = utf8_prefix(text, kPieceBytes);
    if (piece.empty()) piece = text;
    deltas(TextDelta{piece});
    text.remove_prefix(piece.size());
  }
}

}  // namespace deputy
