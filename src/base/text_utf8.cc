#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";
constexpr std::string_view kEllipsis = "…";

struct Character {
  std::size_t size = 1;
  utf8proc_int32_t code = -1;  // negative: a byte that is not part of valid UTF-8
};

Character character_at(std::string_view text, std::size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 0x80) return {1, *bytes};
  // A negative length would mean "until NUL", so the four bytes a character can have are all it gets to see.
  const auto length = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4));
  utf8proc_int32_t code = -1;
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, length, &code);
  if (size <= 0) return {};
  return {static_cast<std::size_t>(size), code};
}

std::size_t ascii_run(std::string_view text, std::size_t from) {
  std::size_t at = from;
  std::uint64_t eight = 0;  // at a time: nearly all text is ASCII, and all text is looked through
  for (; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & 0x8080'8080'8080'8080) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at - from;
}

// Of the valid UTF-8 from `at` on: what stands there is a byte that is none, or nothing.
std::size_t valid_end(std::string_view text, std::size_t at) {
  for (at += ascii_run(text, at); at < text.size(); at += ascii_run(text, at)) {
    const Character character = character_at(text, at);
    if (character.code < 0) return at;
    at += character.size;
  }
  return at;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool is_space(utf8proc_int32_t code) {
  if (code < 0) return false;
  if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
  const utf8proc_category_t category = utf8proc_category(code);
  return code == 0x85 || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_hidden(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      // Variation selectors and fillers carry text that nobody sees.
      return utf8proc_get_property(code)->ignorable != 0;
  }
}

void append_character(std::string& out, utf8proc_int32_t code) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(code, bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

template <typename Hidden>
std::string shown_without(std::string_view text, Hidden hidden) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const utf8proc_int32_t code = character.code;
    if (code < 0) {
      out += kReplacement;
    } else if (code == '\n' || code == '\t' || !hidden(code)) {
      out += text.substr(at, character.size);
    } else if (code < 0x20) {
      append_character(out, 0x2400 + code);  // the control pictures: ESC is ␛
    } else if (code == 0x7f) {
      append_character(out, 0x2421);
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", code);
    }
    at += character.size;
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) { return valid_end(text, 0) == text.size(); }

std::string to_utf8(std::string_view bytes) {
  std::size_t end = valid_end(bytes, 0);
  std::string out(bytes.substr(0, end));
  while (end < bytes.size()) {
    out += kReplacement;
    const std::size_t from = end + 1;
    end = valid_end(bytes, from);
    out += bytes.substr(from, end - from);
  }
  return out;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const std::size_t earliest = max_bytes < 3 ? 0 : max_bytes - 3;
  for (std::size_t at = max_bytes; continues(text[max_bytes]) && at-- > earliest;) {
    if (continues(text[at])) continue;
    const bool is_cut = at + character_at(text, at).size > max_bytes;
    return text.substr(0, is_cut ? at : max_bytes);
  }
  return text.substr(0, max_bytes);
}

std::string_view utf8_suffix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t start = text.size() - max_bytes;
  const std::size_t latest = std::min(start + 3, text.size());
  while (start < latest && continues(text[start])) ++start;
  return text.substr(start);
}

std::size_t utf8_length(std::string_view text) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); ++length) at += character_at(text, at).size;
  return length;
}

std::string shorten(std::string_view text, std::size_t max_characters) {
  if (text.size() <= max_characters) return std::string(text);
  if (max_characters == 0) return {};
  std::size_t at = 0;
  std::size_t kept_bytes = 0;
  for (std::size_t characters = 0; at < text.size(); ++characters) {
    if (characters == max_characters - 1) kept_bytes = at;
    if (characters == max_characters) return std::string(text.substr(0, kept_bytes)).append(kEllipsis);
    at += character_at(text, at).size;
  }
  return std::string(text);
}

std::string on_one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool space_owed = false;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (is_space(character.code)) {
      space_owed = !out.empty();
    } else {
      if (space_owed) out += ' ';
      space_owed = false;
      out += text.substr(at, character.size);
    }
    at += character.size;
  }
  return out;
}

std::string made_visible(std::string_view text) { return shown_without(text, is_hidden); }

std::string made_unmistakable(std::string_view text) {
  constexpr utf8proc_int32_t kBrailleBlank = 0x2800;
  return shown_without(text, [](utf8proc_int32_t code) {
    return is_hidden(code) || (code != ' ' && is_space(code)) || code == kBrailleBlank;
  });
}

std::string case_folded(std::string_view text) {
  if (std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return lowered(text);  // as nearly all names are
  constexpr auto kOptions = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped, kOptions);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(mapped, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) return lowered(text);
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

}  // namespace deputy
