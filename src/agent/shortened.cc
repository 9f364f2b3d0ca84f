#include "agent/shortened.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.h"
#include "model/context_estimate.h"

namespace deputy {
namespace {

constexpr std::array<std::size_t, 2> kKeptBytes{2048, 256};  // of a result; less where that does not do
constexpr std::int64_t kSummaryTokens = 2048;
constexpr std::int64_t kSurePercent = 95;

bool shorten(Message& message, std::size_t bytes) {
  bool is_shorter = false;
  for (ToolResult& result : message.results) {
    if (result.content.size() <= bytes) continue;
    result.content = bounded(result.content, bytes).text;
    is_shorter = true;
  }
  return is_shorter;
}

}  // namespace

Shortened shorten_results(std::vector<Message>& messages, const std::optional<Measured>& measured,
                          const Room& room) {
  Shortened shortened{.measured = measured};
  const std::int64_t told = estimated_input(room.prefix, room.model, messages, measured);
  std::int64_t by_text = room.prefix + estimated_tokens(room.model, messages);
  if (told <= room.tokens || by_text <= 0) return shortened;
  const double measure = static_cast<double>(told) / static_cast<double>(by_text);
  const auto now = [&] { return std::llround(measure * static_cast<double>(by_text)); };
  for (const std::size_t bytes : kKeptBytes) {
    for (std::size_t at = 0; at < messages.size() && now() > room.tokens; ++at) {
      const auto before = estimated_tokens(room.model, std::span(&messages[at], 1));
      if (!shorten(messages[at], bytes)) continue;
      by_text -= before - estimated_tokens(room.model, std::span(&messages[at], 1));
      shortened.messages.insert(at);
    }
  }
  if (measured) shortened.measured = Measured{.messages = messages.size(), .tokens = now()};
  return shortened;
}

std::int64_t room_to_sum_up(std::int64_t window, int max_output_tokens) {
  const auto summary = std::min<std::int64_t>(kSummaryTokens, max_output_tokens);
  return std::max<std::int64_t>(0, window - summary) * kSurePercent / 100;
}

}  // namespace deputy
