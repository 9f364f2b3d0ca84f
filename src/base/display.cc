#include "base/display.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr utf8proc_int32_t kZeroWidthJoiner = 0x200d;
constexpr std::size_t kTabColumns = 4;

struct Code {
  utf8proc_int32_t value = 0xfffd;
  std::size_t size = 1;
};

Code code_at(std::string_view text, std::size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 0x80) return {*bytes, 1};
  Code code;
  const auto length = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4));
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, length, &code.value);
  if (size <= 0) return {};
  code.size = static_cast<std::size_t>(size);
  return code;
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

bool is_pictograph(utf8proc_int32_t code) {
  return utf8proc_get_property(code)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool is_regional_indicator(utf8proc_int32_t code) { return code >= 0x1f1e6 && code <= 0x1f1ff; }

bool is_emoji_glue(utf8proc_int32_t code) {
  return code == kZeroWidthJoiner || code == 0xfe0e || code == 0xfe0f || code == 0x20e3;
}

// As wide as its widest character: marks stand on what is before them.
std::size_t grapheme_width(std::string_view grapheme) {
  const Code first = code_at(grapheme, 0);
  if (is_regional_indicator(first.value)) return grapheme.size() > first.size ? 2 : 1;
  int width = 0;
  for (std::size_t at = 0; at < grapheme.size();) {
    const Code code = code_at(grapheme, at);
    width = std::max(width, utf8proc_charwidth(code.value));
    at += code.size;
  }
  return static_cast<std::size_t>(std::clamp(width, 0, 2));
}

std::string without_glue(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool after_emoji = false;
  for (std::size_t at = 0; at < text.size();) {
    const Code code = code_at(text, at);
    const bool glues = after_emoji && is_emoji_glue(code.value);
    const bool ends_line = code.value == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (!glues && !ends_line) {
      out += text.substr(at, code.size);
      after_emoji = is_pictograph(code.value) || (code.value >= 0x1f3fb && code.value <= 0x1f3ff) ||
                    (code.value >= '0' && code.value <= '9') || code.value == '#';
    }
    at += code.size;
  }
  return out;
}

}  // namespace

std::string for_screen(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  const std::string shown = made_visible(without_glue(to_utf8(text)));
  out.reserve(shown.size());
  for (const char c : shown) {
    if (c == '\t') {
      const std::size_t spaces = kTabColumns - column % kTabColumns;
      out.append(spaces, ' ');
      column += spaces;
      continue;
    }
    out += c;
    column = c == '\n' ? 0 : column + 1;
  }
  return out;
}

std::size_t grapheme_end(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  Code code = code_at(text, at);
  std::size_t end = at + code.size;
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    const Code next = code_at(text, end);
    if (utf8proc_grapheme_break_stateful(code.value, next.value, &state)) break;
    code = next;
    end += next.size;
  }
  return end;
}

std::size_t grapheme_start(std::string_view text, std::size_t at) {
  // Breaks are found forwards only; a line break or ASCII pair before is a sure place to start from.
  std::size_t from = at;
  while (from > 0) {
    --from;
    if (from == 0 || (is_ascii(text[from]) && is_ascii(text[from - 1]))) break;
  }
  std::size_t start = from;
  for (std::size_t end = grapheme_end(text, start); end < at; end = grapheme_end(text, start)) start = end;
  return at == 0 ? 0 : start;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = grapheme_end(text, at);
    width += grapheme_width(text.substr(at, end - at));
    at = end;
  }
  return width;
}

std::string_view display_prefix(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t left = columns; at < text.size();) {
    const std::size_t end = grapheme_end(text, at);
    const std::size_t width = grapheme_width(text.substr(at, end - at));
    if (width > left) break;
    left -= width;
    at = end;
  }
  return text.substr(0, at);
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
  if (display_prefix(text, columns).size() == text.size()) return std::string(text);
  if (columns == 0) return {};
  return std::string(display_prefix(text, columns - 1)) + "…";
}

}  // namespace deputy
