#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace deputy {
namespace {

std::string left_out_marker(std::size_t lines, std::size_t bytes) {
  if (lines == 0) return fmt::format("[… {} bytes left out …]", with_thousands(bytes));
  return fmt::format("[… {} {} ({} bytes) left out …]", with_thousands(lines), lines == 1 ? "line" : "lines",
                     with_thousands(bytes));
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Ends after a line break, unless that would give away more than half of what may be kept.
std::string_view head_of(std::string_view text, std::size_t max_bytes) {
  const std::string_view head = utf8_prefix(text, max_bytes);
  const std::size_t after_break = head.rfind('\n') + 1;  // npos + 1 is 0
  return after_break > max_bytes / 2 ? head.substr(0, after_break) : head;
}

std::string_view tail_of(std::string_view text, std::size_t max_bytes) {
  if (max_bytes == 0) return {};
  // One byte more, so that a tail that starts right after a line break is seen to do so.
  const std::string_view with_byte_before = utf8_suffix(text, max_bytes + 1);
  const std::size_t line_break = with_byte_before.find('\n');
  if (line_break < max_bytes / 2) return with_byte_before.substr(line_break + 1);
  return utf8_suffix(text, max_bytes);
}

// Neighbouring letters that changed places count as one mistake.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

Bounded bounded(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return {.text = std::string(text)};
  // The marker is longest when it counts everything; two bytes more are for the line breaks around it.
  const std::size_t reserved = left_out_marker(count_lines(text) + 2, text.size()).size() + 2;
  if (max_bytes < reserved) {
    const std::string_view head = utf8_prefix(text, max_bytes);
    const std::string_view rest = text.substr(head.size());
    return {std::string(head), false, count_lines(rest), rest.size()};
  }
  const std::size_t room = max_bytes - reserved;
  const std::string_view head = head_of(text, room - room * 2 / 5);
  const std::string_view tail = tail_of(text, room * 2 / 5);
  const std::string_view rest = text.substr(head.size(), text.size() - head.size() - tail.size());
  const std::size_t lines = count_lines(rest);
  std::string out(head);
  if (!head.empty() && head.back() != '\n') out += '\n';
  out += left_out_marker(lines, rest.size());
  if (!tail.empty()) out.append(1, '\n').append(tail);
  return {std::move(out), false, lines, rest.size()};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t line_break = text.find('\n');
    std::string_view line = text.substr(0, line_break);
    if (line_break != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (line_break == std::string_view::npos) break;
    text.remove_prefix(line_break + 1);
  }
  return lines;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string with_thousands(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string short_count(std::uint64_t number) {
  if (number < 1000) return std::to_string(number);
  std::uint64_t unit = 1000;
  std::string_view letters = "kMGTPE";
  for (; number / unit >= 1000; letters.remove_prefix(1)) unit *= 1000;
  // Cut, not rounded: 999,999 must not become "1000k".
  const std::uint64_t whole = number / unit;
  const std::uint64_t tenth = number / (unit / 10) % 10;
  if (whole < 10 && tenth != 0) return fmt::format("{}.{}{}", whole, tenth, letters.front());
  return fmt::format("{}{}", whole, letters.front());
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates,
                                 std::size_t most) {
  const std::size_t farthest = std::max<std::size_t>(2, word.size() / 3);
  const std::string wanted = lowered(word);
  std::vector<std::pair<std::size_t, const std::string*>> matches;  // equally near ones stay in their order
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({candidate.size(), wanted.size()});
    if (longer - shorter > farthest) continue;
    const std::size_t distance = edit_distance(wanted, lowered(candidate));
    if (distance <= farthest) matches.emplace_back(distance, &candidate);
  }
  std::sort(matches.begin(), matches.end());
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : matches) {
    if (names.size() == most) break;
    names.push_back(*candidate);
  }
  return names;
}

std::string safe_file_name(std::string_view label) {
  constexpr std::size_t kMaxBytes = 64;
  std::string name;
  for (std::size_t at = 0; at < label.size() && name.size() < kMaxBytes; ++at) {
    const char c = label[at];
    // A character of several bytes becomes one '-': its continuation bytes add nothing.
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80 && at > 0) continue;
    name += is_plain(c) ? c : '-';
  }
  if (name.empty()) return "unnamed";
  if (name.front() == '.') name.front() = '_';
  return name;
}

}  // namespace deputy
