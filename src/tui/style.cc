#include "tui/style.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"

namespace deputy {
namespace {

struct Spelling {
  std::string_view sign;
  std::string_view ascii;
};
// Each as wide as what it stands for, so that nothing moves; but one dot would not tell of anything left out.
constexpr std::string_view kLeftOut = "…";
constexpr Spelling kSpellings[] = {{kLeftOut, "..."}, {"•", "*"}, {"─", "-"},      {"│", "|"},  {"└", "`"},
                                   {"├", "|"},        {"—", "-"}, {"–", "-"},      {"“", "\""}, {"”", "\""},
                                   {"‘", "'"},        {"’", "'"}, {"✓", "+"},      {"✗", "x"},  {"→", ">"},
                                   {"⚠", "!"},        {"❯", ">"}, {"⏎", "/"},      {"·", "."},  {"␛", "^"},
                                   {"↑", "^"},        {"↓", "v"}, {"⚠\uFE0F", "!"}};  // as reports have it

// Of the spaces before the next column, those that the dots may take so that it stays where it is.
std::size_t columns_to_spare(std::string_view rest) {
  constexpr std::size_t kTaken = 2;
  const std::size_t spaces = std::min(rest.find_first_not_of(' '), rest.size());
  return spaces >= kTaken + 2 ? kTaken : 0;
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

constexpr Marks kSigns{.done = "✓", .partial = "⚠", .failed = "✗", .working = "→"};
constexpr Marks kAscii{.done = "+", .partial = "!", .failed = "x", .working = ">"};

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::good:
    case Tone::added:
      return "32";
    case Tone::doubtful:
      return "33";
    case Tone::bad:
    case Tone::removed:
      return "31";
    case Tone::faint:
      return "2";
    case Tone::strong:
      return "1";
    case Tone::accent:
    case Tone::code:
      return "36";
    case Tone::heading:
      return "1;36";
    case Tone::chosen:
      return "7";
    case Tone::plain:
      break;
  }
  return "0";
}

}  // namespace

std::string toned(const Style& style, Tone tone, std::string_view text) {
  if (!style.colour || tone == Tone::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(tone), text);
}

const Marks& marks_of(const Style& style) { return style.unicode ? kSigns : kAscii; }

std::string in_ascii(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = grapheme_end(text, at);
    const std::string_view grapheme = text.substr(at, end - at);
    if (std::ranges::all_of(grapheme, is_ascii)) {  // "\r\n" is one, too
      out += grapheme;
    } else if (const auto* known = std::ranges::find(kSpellings, grapheme, &Spelling::sign);
               known != std::end(kSpellings)) {
      out += known->ascii;
      if (grapheme == kLeftOut) at += columns_to_spare(text.substr(end));
    } else {
      out.append(display_width(grapheme), '?');
    }
    at += grapheme.size();
  }
  return out;
}

std::string spelled_in_ascii(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) {
      out += text[at++];
      continue;
    }
    const std::size_t end = std::min(at + (first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4), text.size());
    unsigned code = first & (0x7fU >> (end - at));
    while (++at < end) code = code << 6 | (static_cast<unsigned char>(text[at]) & 0x3fU);
    out += fmt::format("\\u{{{:x}}}", code);
  }
  return out;
}

}  // namespace deputy
