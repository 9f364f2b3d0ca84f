#include "tui/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/display.h"

namespace deputy {
namespace {

struct Spelling {
  std::string_view sign;
  std::string_view ascii;
};
// Each as wide as what it stands for, so that nothing moves; but one dot would not tell of anything left out,
// and ">" is the prompt.
constexpr std::string_view kLeftOut = "…";
constexpr Spelling kSpellings[] = {{kLeftOut, "..."}, {"•", "*"},      {"─", "-"}, {"│", "|"},  {"└", "`"},
                                   {"├", "|"},        {"—", "-"},      {"–", "-"}, {"“", "\""}, {"”", "\""},
                                   {"‘", "'"},        {"’", "'"},      {"✓", "+"}, {"✗", "x"},  {"→", "->"},
                                   {"⚠", "!"},        {"❯", ">"},      {"⏎", "/"}, {"·", "."},  {"↑", "^"},
                                   {"↓", "v"},        {"⚠\uFE0F", "!"}};  // as reports have it

// Of the character at the beginning of a valid text.
struct Character {
  unsigned code;
  std::size_t size;
};
Character first_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t size = std::min<std::size_t>(first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4, text.size());
  unsigned code = first & (0x7fU >> size);
  for (const char c : text.substr(1, size - 1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return {code, size};
}

// The one that a picture stands for, as made_visible puts it there: ESC for ␛.
std::optional<unsigned> control_behind(unsigned picture) {
  if (picture >= 0x2400 && picture < 0x2420) return picture - 0x2400;
  return picture == 0x2421 ? std::optional(0x7fU) : std::nullopt;
}

// Of the spaces before the next column, those that the dots may take so that it stays where it is.
std::size_t columns_to_spare(std::string_view rest) {
  constexpr std::size_t kTaken = 2;
  const std::size_t spaces = std::min(rest.find_first_not_of(' '), rest.size());
  return spaces >= kTaken + 2 ? kTaken : 0;
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

constexpr Marks kSigns{.done = "✓", .partial = "⚠", .failed = "✗", .working = "→"};
constexpr Marks kAscii{.done = "+", .partial = "!", .failed = "x", .working = "->"};

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
    } else if (const auto control = control_behind(first_of(grapheme).code)) {
      out += {'^', static_cast<char>(*control ^ 0x40U)};  // ^[ for ESC, ^? for DEL
    } else {
      out.append(display_width(grapheme), '?');
    }
    at += grapheme.size();
  }
  return out;
}

// A control by its own code: ^[ is also how many a pattern begins, and \e is typed in many a command.
std::string spelled_in_ascii(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_of(text.substr(at));
    if (character.code < 0x80) {
      out += text[at];
    } else {
      out += fmt::format("\\u{{{:x}}}", control_behind(character.code).value_or(character.code));
    }
    at += character.size;
  }
  return out;
}

}  // namespace deputy
