#include "tui/style.h"

#include <fmt/format.h>

namespace deputy {
namespace {

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

}  // namespace deputy
