#include "tools/rg_output.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

std::optional<unsigned> base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return std::nullopt;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = base64_digit(c);
    if (!digit) return std::nullopt;
    bits = (bits << 6 | *digit) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

// {"text":"…"}, or {"bytes":"base64"} where it is not UTF-8.
std::optional<std::string> bytes_at(const json::object& object, std::string_view key) {
  const json::object* either = object_at(object, key);
  if (either == nullptr) return std::nullopt;
  if (auto text = string_at(*either, "text")) return text;
  const auto encoded = string_at(*either, "bytes");
  return encoded ? from_base64(*encoded) : std::nullopt;
}

std::string_view without_dot(std::string_view path) { return path.starts_with("./") ? path.substr(2) : path; }

std::size_t start_of_match(const json::object& match) {
  const json::array* submatches = array_at(match, "submatches");
  if (submatches == nullptr || submatches->empty() || !submatches->front().is_object()) return 0;
  return static_cast<std::size_t>(
      std::max<std::int64_t>(0, integer_or(submatches->front().get_object(), "start", 0)));
}

// A line can be megabytes long; what matters is where it matches.
std::string excerpt(std::string_view line, std::size_t match) {
  constexpr std::size_t kBefore = kMaxFoundCharacters / 5;
  constexpr std::size_t kWindowBytes = kMaxFoundCharacters * 4;
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  match = std::min(match, line.size());
  if (line.size() <= kMaxFoundCharacters || match <= kBefore) {
    return shorten(to_utf8(line.substr(0, kWindowBytes)), kMaxFoundCharacters);
  }
  const std::string_view from = utf8_suffix(line, line.size() - match + kBefore);
  return "…" + shorten(to_utf8(from.substr(0, kWindowBytes)), kMaxFoundCharacters - 1);
}

void add_line(std::vector<FoundFile>& files, const json::object& data, bool is_match) {
  const auto path = bytes_at(data, "path");
  const auto text = bytes_at(data, "lines");
  const auto number = integer_at(data, "line_number");
  if (!path || !text || !number) return;
  // All messages about a file come one after another, even when several are searched at once.
  const std::string_view plain = without_dot(*path);
  if (files.empty() || files.back().path != plain) files.push_back({.path = std::string(plain)});
  FoundFile& file = files.back();
  file.lines.push_back({*number, is_match, excerpt(*text, start_of_match(data))});
  if (is_match) ++file.matches;
}

}  // namespace

std::vector<FoundFile> parse_rg_json(std::string_view output) {
  std::vector<FoundFile> files;
  for (const std::string_view line : lines_of(output)) {
    const auto message = parse_json_object(line);
    if (!message) continue;
    const std::string type = string_or(*message, "type", "");
    const json::object* data = object_at(*message, "data");
    if (data == nullptr || (type != "match" && type != "context")) continue;
    add_line(files, *data, type == "match");
  }
  return files;
}

std::vector<std::string> parse_rg_paths(std::string_view output) {
  std::vector<std::string> paths;
  for (std::size_t end = output.find('\0'); end != std::string_view::npos; end = output.find('\0')) {
    paths.emplace_back(without_dot(output.substr(0, end)));
    output.remove_prefix(end + 1);
  }
  return paths;
}

std::vector<FoundFile> parse_rg_counts(std::string_view output) {
  std::vector<FoundFile> files;
  while (!output.empty()) {
    const std::size_t end_of_path = output.find('\0');
    const std::size_t end_of_line =
        end_of_path == std::string_view::npos ? end_of_path : output.find('\n', end_of_path);
    if (end_of_line == std::string_view::npos) break;
    const std::string_view digits = output.substr(end_of_path + 1, end_of_line - end_of_path - 1);
    FoundFile file{.path = std::string(without_dot(output.substr(0, end_of_path)))};
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), file.matches);
    if (error == std::errc() && rest == digits.data() + digits.size()) files.push_back(std::move(file));
    output.remove_prefix(end_of_line + 1);
  }
  return files;
}

}  // namespace deputy
