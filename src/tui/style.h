// How things look on a terminal: colour or not, signs or plain ASCII, and the tones in which a text can
// stand.
#pragma once

#include <string>
#include <string_view>

namespace deputy {

struct Style {
  bool colour = false;
  bool unicode = true;
};

struct TerminalSize {
  int columns = 80;
  int rows = 24;
  bool operator==(const TerminalSize&) const = default;
};

enum class Tone { plain, good, doubtful, bad, faint, strong, accent, code, heading, added, removed, chosen };
// In colour where the style has it.
std::string toned(const Style& style, Tone tone, std::string_view text);

// For a terminal that knows nothing else: signs by what looks like them and is as wide, "…" by three dots,
// which take what they need of the spaces before another column, "→" by "->", a control that made_visible has
// shown by ^ and its letter (^[ for ESC); other letters by a question mark. Escapes stay as they are. The
// text is UTF-8.
std::string in_ascii(std::string_view text);
// The same for what is approved, of which no two may look alike: \u{ef} for ï, \u{1b} for ESC.
std::string spelled_in_ascii(std::string_view text);

// The signs of progress, or what stands for them in plain ASCII.
struct Marks {
  std::string_view done;
  std::string_view partial;
  std::string_view failed;
  std::string_view working;
};
const Marks& marks_of(const Style& style);

}  // namespace deputy
