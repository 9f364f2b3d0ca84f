// What is shown, as lines of toned spans: measured, cut, wrapped, and at last turned into what a terminal is
// sent. A span holds text that for_screen has passed; to_terminal is the only way out, and lets nothing
// through that is not printable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tui/style.h"

namespace deputy {

struct TextSpan {
  std::string text;
  Tone tone = Tone::plain;
  bool operator==(const TextSpan&) const = default;
};
using Line = std::vector<TextSpan>;

// A line of foreign text; what it hides is shown, and it is one line whatever it holds.
Line line_of(std::string_view text, Tone tone = Tone::plain);
// All its lines.
std::vector<Line> lines_of_text(std::string_view text, Tone tone = Tone::plain);

std::size_t width_of(const Line& line);
// At most so wide; what was cut ends with "…".
Line cut(const Line& line, std::size_t columns);
// Broken at spaces where there are some, else behind a slash; further lines begin with `indent`.
std::vector<Line> wrapped(const Line& line, std::size_t columns, std::string_view indent = {});
std::vector<Line> wrapped_all(const std::vector<Line>& lines, std::size_t columns);
// Every line of a text; what follows the last line break has none.
std::string wrapped_text(std::string_view text, std::size_t columns, std::string_view indent = {});
// The right part ends at the last column; the left one is cut to make room for it.
Line justified(Line left, const Line& right, std::size_t columns);

// As a terminal without UTF-8 shows it (see style.h), in as many columns wherever that can be.
Line in_ascii(const Line& line);
std::string to_terminal(const Line& line, const Style& style);
// Without tones, for tests and plain output.
std::string plain_text(const Line& line);

}  // namespace deputy
