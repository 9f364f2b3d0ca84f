#include "tui/key.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace deputy {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteBegins = "\x1b[200~";
constexpr std::string_view kPasteEnds = "\x1b[201~";
constexpr std::size_t kLongestSequence = 64;  // of any terminal, with room to spare

struct Known {
  std::string_view sequence;  // behind the escape
  KeyName name;
};
constexpr Known kKnown[] = {{"[A", KeyName::up},
                            {"[B", KeyName::down},
                            {"[C", KeyName::right},
                            {"[D", KeyName::left},
                            {"OA", KeyName::up},
                            {"OB", KeyName::down},
                            {"OC", KeyName::right},
                            {"OD", KeyName::left},
                            {"[H", KeyName::home},
                            {"[F", KeyName::end},
                            {"OH", KeyName::home},
                            {"OF", KeyName::end},
                            {"[1~", KeyName::home},
                            {"[4~", KeyName::end},
                            {"[7~", KeyName::home},
                            {"[8~", KeyName::end},
                            {"[3~", KeyName::remove},
                            {"[5~", KeyName::page_up},
                            {"[6~", KeyName::page_down},
                            {"[Z", KeyName::back_tab},
                            {"[1;5C", KeyName::word_right},
                            {"[1;5D", KeyName::word_left},
                            {"[1;3C", KeyName::word_right},
                            {"[1;3D", KeyName::word_left},
                            {"b", KeyName::word_left},
                            {"f", KeyName::word_right},
                            {"\r", KeyName::line_break},
                            {"\n", KeyName::line_break},
                            {"\x7f", KeyName::remove_word},
                            {"[13;2u", KeyName::line_break},
                            {"[27;2;13~", KeyName::line_break}};

std::optional<Key> key_of_control(char byte) {
  switch (byte) {
    case '\r':
      return Key{KeyName::enter};
    case '\n':
      return Key{KeyName::line_break};
    case '\t':
      return Key{KeyName::tab};
    case '\x7f':
    case '\b':
      return Key{KeyName::backspace};
    case '\x17':
      return Key{KeyName::remove_word};
    default:
      break;
  }
  if (byte >= 1 && byte <= 26)
    return Key{KeyName::control, std::string(1, static_cast<char>('a' + byte - 1))};
  return std::nullopt;
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == '\x7f'; }

std::size_t size_of_character(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xc2) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 1;
}

// The end of a sequence that begins with an escape; 0 while it has none.
std::size_t end_of_sequence(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[')
    return bytes.size() > size_of_character(bytes[1]) ? 1 + size_of_character(bytes[1]) : 0;
  for (std::size_t at = 2; at < bytes.size(); ++at) {
    if (at == kLongestSequence) return at;
    if (bytes[at] >= '@' && bytes[at] <= '~') return at + 1;
    if (is_control(bytes[at])) return at;  // broken off
  }
  return 0;
}

void add_text(std::vector<Key>& keys, std::string_view text) {
  if (keys.empty() || keys.back().name != KeyName::text) keys.push_back({KeyName::text});
  keys.back().text += text;
}

}  // namespace

std::string as_typed(std::string_view bytes) {
  std::string text;
  const std::string utf8 = to_utf8(bytes);
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    if (utf8[at] == '\r') {
      if (at + 1 == utf8.size() || utf8[at + 1] != '\n') text += '\n';
    } else if (!is_control(utf8[at]) || utf8[at] == '\n' || utf8[at] == '\t') {
      text += utf8[at];
    }
  }
  return text;
}

std::vector<Key> KeyReader::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  while (!pending_.empty()) {
    const std::size_t used = take(keys);
    if (used == 0) break;
    pending_.erase(0, used);
  }
  return keys;
}

std::vector<Key> KeyReader::settle() {
  std::vector<Key> keys;
  if (is_pasting_) return keys;
  if (pending_ == std::string_view(&kEscape, 1)) keys.push_back({KeyName::escape});
  pending_.clear();
  return keys;
}

std::size_t KeyReader::take(std::vector<Key>& keys) {
  if (is_pasting_) return take_paste(keys);
  const char first = pending_.front();
  if (first == kEscape) {
    if (!pending_.starts_with(kPasteBegins)) return take_escape(keys);
    is_pasting_ = true;
    return kPasteBegins.size();
  }
  if (is_control(first)) {
    if (auto key = key_of_control(first)) keys.push_back(*std::move(key));
    return 1;
  }
  const std::size_t size = size_of_character(first);
  if (pending_.size() < size) return 0;
  const std::string_view character = std::string_view(pending_).substr(0, size);
  if (!is_utf8(character)) return 1;
  const bool is_second_control =
      size == 2 && first == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  if (!is_second_control) add_text(keys, character);
  return size;
}

std::size_t KeyReader::take_paste(std::vector<Key>& keys) {
  const std::size_t end = pending_.find(kPasteEnds);
  if (end == std::string::npos) return 0;
  keys.push_back({KeyName::paste, as_typed(std::string_view(pending_).substr(0, end))});
  is_pasting_ = false;
  return end + kPasteEnds.size();
}

std::size_t KeyReader::take_escape(std::vector<Key>& keys) const {
  if (pending_.size() >= 2 && pending_[1] == kEscape) {
    keys.push_back({KeyName::escape});
    return 1;
  }
  const std::size_t end = end_of_sequence(pending_);
  if (end == 0) return 0;
  const auto* known =
      std::ranges::find(kKnown, std::string_view(pending_).substr(1, end - 1), &Known::sequence);
  if (known != std::end(kKnown)) keys.push_back({known->name});
  return end;
}

}  // namespace deputy
