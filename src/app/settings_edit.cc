#include "app/settings_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/settings.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kFile = "the settings";

// As a text of TOML.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Where the lines of [permissions] begin and end; nothing where there is no such table.
struct Region {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::optional<Region> permissions_in(std::string_view text) {
  std::optional<Region> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    const std::size_t next = std::min(end + 1, text.size());
    if (found && line.starts_with('[')) {
      found->end = at;
      return found;
    }
    if (!found && line.starts_with("[permissions]")) found = Region{next, text.size()};
    at = next;
    if (end == text.size()) break;
  }
  return found;
}

// Just behind the bracket of `key = [` in the region.
std::optional<std::size_t> list_in(std::string_view text, const Region& region, std::string_view key) {
  for (std::size_t at = region.begin; at < region.end;) {
    const std::size_t end = std::min(text.find('\n', at), region.end);
    const std::string_view line = text.substr(at, end - at);
    const std::size_t bracket = line.find('[');
    if (bracket != std::string_view::npos) {
      std::string_view before = trimmed(line.substr(0, bracket));
      if (before.ends_with('=') && trimmed(before.substr(0, before.size() - 1)) == key)
        return at + bracket + 1;
    }
    at = end + 1;
  }
  return std::nullopt;
}

bool is_empty_list(std::string_view behind) { return trimmed(behind.substr(0, behind.find(']'))).empty(); }

std::string edited(std::string text, const Rule& rule) {
  const std::string key(name_of(rule.decision));
  const std::string value = quoted(to_text(rule));
  const auto region = permissions_in(text);
  if (!region) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    if (!text.empty()) text += '\n';
    return text + fmt::format("[permissions]\n{} = [{}]\n", key, value);
  }
  const auto list = list_in(text, *region, key);
  if (!list) {
    std::string line = fmt::format("{} = [{}]\n", key, value);
    if (region->begin > 0 && text[region->begin - 1] != '\n') line.insert(0, "\n");
    return text.insert(region->begin, line);
  }
  const bool is_alone = is_empty_list(std::string_view(text).substr(*list));
  return text.insert(*list, is_alone ? value : value + ", ");
}

}  // namespace

Result<std::string> with_rule(std::string_view settings, const Rule& rule) {
  TRY(const Settings before, parse_settings(settings, kFile));
  if (std::ranges::find(before.rules, rule) != before.rules.end()) return std::string(settings);
  std::string text = edited(std::string(settings), rule);
  auto after = parse_settings(text, kFile);
  const Error by_hand{
      ErrorCode::unavailable, "the rule could not be put into the settings",
      fmt::format("add it yourself: [permissions] {} = [{}]", name_of(rule.decision), quoted(to_text(rule)))};
  if (!after || after->rules.size() != before.rules.size() + 1) return std::unexpected(by_hand);
  const auto added = std::ranges::find(after->rules, rule);
  if (added == after->rules.end()) return std::unexpected(by_hand);
  after->rules.erase(added);
  if (*after != before) return std::unexpected(by_hand);
  return text;
}

}  // namespace deputy
