#include "tui/line.h"

#include <algorithm>
#include <utility>

#include "base/display.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kCut = "…";  // a span of its own

// Controls of either set, those of the second being \xc2 and a byte from \x80 to \x9f.
std::string printable(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
    if (byte < 0x20 || byte == 0x7f) text[at] = '?';
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) text.replace(at, 2, "?");
  }
  return text;
}

// Where the first line ends, and where the next one begins.
struct Break {
  std::size_t end;
  std::size_t next;
};

Break break_of(std::string_view text, std::size_t columns) {
  std::size_t end = display_prefix(text, columns).size();
  if (end == text.size()) return {end, end};
  if (end == 0) end = grapheme_end(text, 0);
  if (text[end] == ' ') return {end, end + 1};
  const std::size_t space = text.substr(0, end).rfind(' ');
  if (space != std::string_view::npos &&
      text.substr(0, space).find_first_not_of(' ') != std::string_view::npos)
    return {space, space + 1};
  // Of a path, or an address, no name is broken where the row is not left half empty by that.
  const std::size_t behind_slash = text.substr(0, end).rfind('/') + 1;  // 0 where there is none
  if (behind_slash * 2 > end) end = behind_slash;
  return {end, end};
}

// The part [from, to) of a line's text, with its tones.
Line slice(const Line& line, std::size_t from, std::size_t to) {
  Line part;
  std::size_t at = 0;
  for (const TextSpan& span : line) {
    const std::size_t begin = std::clamp(from, at, at + span.text.size());
    const std::size_t end = std::clamp(to, at, at + span.text.size());
    if (begin < end) part.push_back({span.text.substr(begin - at, end - begin), span.tone});
    at += span.text.size();
  }
  return part;
}

}  // namespace

Line line_of(std::string_view text, Tone tone) {
  std::string shown = for_screen(text);
  std::ranges::replace(shown, '\n', ' ');
  return {{std::move(shown), tone}};
}

std::vector<Line> lines_of_text(std::string_view text, Tone tone) {
  const std::string shown = for_screen(text);
  std::vector<Line> lines;
  for (const auto line : lines_of(shown)) lines.push_back({{std::string(line), tone}});
  return lines;
}

std::size_t width_of(const Line& line) { return display_width(plain_text(line)); }

Line cut(const Line& line, std::size_t columns) {
  const std::string text = plain_text(line);
  if (display_prefix(text, columns).size() == text.size()) return line;
  if (columns == 0) return {};
  Line part = slice(line, 0, display_prefix(text, columns - 1).size());
  part.push_back({std::string(kCut), part.empty() ? Tone::plain : part.back().tone});
  return part;
}

std::vector<Line> wrapped(const Line& line, std::size_t columns, std::string_view indent) {
  columns = std::max<std::size_t>(columns, 4);
  const std::string text = plain_text(line);
  const std::size_t indented = std::min(display_width(indent), columns / 2);
  std::vector<Line> lines;
  std::size_t at = 0;
  do {
    const std::size_t room = lines.empty() ? columns : columns - indented;
    const Break found = break_of(std::string_view(text).substr(at), room);
    Line part = slice(line, at, at + found.end);
    if (!lines.empty() && indented > 0) part.insert(part.begin(), {std::string(indent), Tone::plain});
    lines.push_back(std::move(part));
    at += found.next;
  } while (at < text.size());
  return lines;
}

std::vector<Line> wrapped_all(const std::vector<Line>& lines, std::size_t columns) {
  std::vector<Line> all;
  for (const Line& line : lines) {
    for (Line& part : wrapped(line, columns)) all.push_back(std::move(part));
  }
  return all;
}

std::string wrapped_text(std::string_view text, std::size_t columns, std::string_view indent) {
  std::string out;
  for (const auto line : split(text, '\n')) {
    for (const Line& part : wrapped({TextSpan{std::string(line)}}, columns, indent))
      out += plain_text(part) + "\n";
  }
  out.pop_back();
  return out;
}

Line justified(Line left, const Line& right, std::size_t columns) {
  const std::size_t taken = width_of(right);
  if (taken + 2 > columns) return cut(left, columns);
  left = cut(left, columns - taken - 2);
  if (taken == 0) return left;  // a terminal that becomes narrower would wrap the blanks
  left.push_back({std::string(columns - taken - width_of(left), ' '), Tone::plain});
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// What was cut gives its last two columns to the dots, and blanks before what stands at the right end make up
// for those of a text.
Line in_ascii(const Line& line) {
  Line ascii;
  std::size_t too_wide = 0;
  for (const TextSpan& span : line) {
    std::string text = in_ascii(span.text);
    if (span.text == kCut) {
      const std::size_t given = ascii.empty() ? 0 : std::min<std::size_t>(ascii.back().text.size(), 2);
      if (given > 0) ascii.back().text.resize(ascii.back().text.size() - given);
      text.assign(1 + given, '.');
    } else if (text.find_first_not_of(' ') == std::string::npos && text.size() > too_wide) {
      text.erase(0, std::exchange(too_wide, 0));
    } else {
      too_wide += text.size() - std::min(text.size(), display_width(span.text));
    }
    ascii.push_back({std::move(text), span.tone});
  }
  return ascii;
}

std::string to_terminal(const Line& line, const Style& style) {
  std::string out;
  const Line ascii = style.unicode ? Line{} : in_ascii(line);
  for (const TextSpan& span : style.unicode ? line : ascii)
    out += toned(style, span.tone, printable(span.text));
  return out;
}

std::string plain_text(const Line& line) {
  std::string text;
  for (const TextSpan& span : line) text += span.text;
  return text;
}

}  // namespace deputy
