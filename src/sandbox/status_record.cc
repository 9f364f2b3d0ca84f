#include "sandbox/status_record.h"

#include <algorithm>
#include <charconv>

#include "sandbox/init/protocol.h"

namespace deputy {
namespace {

// The rest of the line after `word`, if it begins with that.
std::optional<std::string_view> after(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  if (line.empty()) return line;
  if (!line.starts_with(' ')) return std::nullopt;
  return line.substr(1);
}

std::optional<int> leading_number(std::optional<std::string_view> text) {
  int number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

// Two numbers: microseconds of CPU, kilobytes of memory.
std::optional<ProcessUse> use_in(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  const char* const begin = text->data();
  const char* const end = begin + text->size();
  const auto first = std::from_chars(begin, end, cpu);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, memory);
  constexpr std::int64_t kMost = 1LL << 50;
  if (second.ec != std::errc() || cpu < 0 || memory < 0 || cpu > kMost || memory > kMost) return std::nullopt;
  return ProcessUse{std::chrono::microseconds(cpu), memory * 1024};
}

void parse_line(std::string_view line, StatusRecord& record) {
  if (const auto level = leading_number(after(line, init::kConfined))) {
    record.confined = true;
    record.level = static_cast<SandboxLevel>(std::clamp(*level, 0, 3));
  } else if (const auto reason = after(line, init::kRefused)) {
    record.refused = std::string(*reason);
  } else if (const auto number = leading_number(after(line, init::kUnstarted))) {
    record.unstarted = number;
  } else if (const auto status = leading_number(after(line, init::kEndedExit))) {
    record.exit_status = status;
  } else if (const auto signal = leading_number(after(line, init::kEndedSignal))) {
    record.exit_status = 128 + std::clamp(*signal, 0, 127);
  } else if (after(line, init::kInside)) {
    record.began = true;
  } else if (const auto use = use_in(after(line, init::kUsed))) {
    record.use = use;
  } else if (after(line, init::kTimeout)) {
    record.timed_out = true;
  }
}

}  // namespace

StatusRecord parse_status(std::string_view text) {
  StatusRecord record;
  while (!text.empty()) {
    const auto end = text.find('\n');
    parse_line(text.substr(0, end), record);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return record;
}

}  // namespace deputy
