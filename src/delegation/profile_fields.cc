#include "delegation/profile_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostShown = 60;

std::string shown(std::string_view text) { return shorten(on_one_line(made_visible(text)), kMostShown); }

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "a, B(c, d)" at its commas, but not those in brackets.
std::vector<ProfileNode> at_commas(const ProfileNode& value) {
  std::vector<ProfileNode> parts;
  int open = 0;
  std::string part;
  const auto end_part = [&] {
    if (const auto text = trimmed(part); !text.empty())
      parts.push_back({.kind = ProfileNode::Kind::text, .text = std::string(text), .line = value.line});
    part.clear();
  };
  for (const char c : value.text) {
    if (c == '(') ++open;
    if (c == ')' && open > 0) --open;
    if ((c == ',' || c == '\n') && open == 0) {
      end_part();
    } else {
      part += c;
    }
  }
  end_part();
  return parts;
}

}  // namespace

std::unexpected<Error> wrong_value(const ProfileNode& value, std::string_view key, std::string_view must_be) {
  const std::string found = value.kind == ProfileNode::Kind::text ? fmt::format("'{}'", shown(value.text))
                                                                  : std::string(kind_name(value));
  return fail(ErrorCode::invalid, fmt::format("line {}: {} is {}", value.line, shown(key), found),
              fmt::format("it must be {}", must_be));
}

Result<bool> truth_in(const ProfileNode& value, std::string_view key) {
  const std::string word = lowered(value.text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return wrong_value(value, key, "true or false");
}

std::unexpected<Error> ProfileFields::wrong_choice(const ProfileNode& value, std::string_view key,
                                                   const std::vector<std::string>& words) const {
  return wrong_value(value, key, fmt::format("{}", fmt::join(words, " or ")));
}

const ProfileNode* ProfileFields::take(std::string_view key, std::string_view ours) {
  known_.emplace_back(key);
  for (std::size_t i = head_.keys.size(); i-- > 0;) {
    if (head_.keys[i] != key) continue;
    if (head_.items[i].kind == ProfileNode::Kind::nothing) return nullptr;
    if (!ours.empty()) into_.mapped.push_back(fmt::format("{} → {}", key, ours));
    return &head_.items[i];
  }
  return nullptr;
}

Result<std::optional<std::string>> ProfileFields::text(std::string_view key, std::string_view ours) {
  const ProfileNode* value = take(key, ours);
  if (!value) return std::nullopt;
  if (value->kind != ProfileNode::Kind::text) return mistaken(wrong_value(*value, key, "a text"));
  return std::string(trimmed(value->text));
}

Result<std::optional<bool>> ProfileFields::truth(std::string_view key, std::string_view ours) {
  const ProfileNode* value = take(key, ours);
  if (!value) return std::nullopt;
  const auto said = truth_in(*value, key);
  if (!said) return mistaken(std::unexpected(said.error()));
  return *said;
}

Result<std::optional<int>> ProfileFields::number(std::string_view key, std::string_view ours) {
  const ProfileNode* value = take(key, ours);
  if (!value) return std::nullopt;
  if (value->text == "none") return std::numeric_limits<int>::max();
  if (const auto found = whole_number(value->text); found && *found >= 1) return found;
  return mistaken(wrong_value(*value, key, "a whole number from 1 on, or none"));
}

Result<std::optional<Duration>> ProfileFields::duration(std::string_view key) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365);
  const ProfileNode* value = take(key);
  if (!value) return std::nullopt;
  if (value->text == "none") return kNoTimeout;
  const auto seconds = whole_number(value->text);
  const auto found =
      seconds ? std::optional<Duration>(std::chrono::seconds(*seconds)) : parse_duration(value->text);
  if (found && *found > Duration::zero() && *found <= kLongest) return found;
  return mistaken(wrong_value(*value, key, "a time such as 10m, a number of seconds, or none"));
}

Result<std::optional<std::vector<ProfileNode>>> ProfileFields::texts(std::string_view key,
                                                                     std::string_view ours) {
  const ProfileNode* value = take(key, ours);
  if (!value) return std::nullopt;
  if (value->kind == ProfileNode::Kind::text) return at_commas(*value);
  const bool is_list = value->kind == ProfileNode::Kind::list &&
                       std::ranges::all_of(value->items, [](const ProfileNode& item) {
                         return item.kind == ProfileNode::Kind::text;
                       });
  if (is_list) return value->items;
  return mistaken(wrong_value(*value, key, "a list of names, or a text with commas between them"));
}

void ProfileFields::ignore(std::span<const std::string_view> keys) {
  for (const auto key : keys) {
    if (take(key)) into_.ignored.emplace_back(key);
  }
}

void ProfileFields::finish() {
  for (std::size_t i = 0; i < head_.keys.size(); ++i) {
    const std::string& key = head_.keys[i];
    const int line = head_.items[i].line;
    if (std::ranges::count(head_.keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, head_.keys.end(), key) >
        0)
      into_.warnings.push_back({line, fmt::format("{} stands here twice; the last one counts", shown(key))});
    if (std::ranges::find(known_, key) != known_.end()) continue;
    const auto near = nearest(key, known_, 1);
    into_.unknown[key] = to_json(head_.items[i]);
    into_.warnings.push_back(
        {line, near.empty() ? fmt::format("unknown key {}", shown(key))
                            : fmt::format("unknown key {}; did you mean {}?", shown(key), near.front())});
  }
}

}  // namespace deputy
