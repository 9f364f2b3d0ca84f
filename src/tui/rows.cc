#include "tui/rows.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "base/display.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kNameColumns = 26;
constexpr std::size_t kNarrow = 60;
constexpr std::string_view kIndent = "    ";
constexpr std::string_view kGap = "  ";

std::string_view without_end_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// Where the last gap begins before which all fits; nothing where the first cell is too wide by itself.
std::optional<std::size_t> gap_in(std::string_view row, std::size_t columns) {
  const std::size_t fits = display_prefix(row, columns).size();
  const std::size_t gap = row.rfind(kGap, fits);
  const std::size_t first = row.find_first_not_of(' ');
  if (gap == std::string_view::npos || gap <= first) return std::nullopt;
  return gap;
}

void add_row(std::string row, std::size_t columns, std::vector<Line>& lines) {
  while (display_width(row) > columns) {
    const auto gap = gap_in(row, columns);
    if (!gap) break;
    lines.push_back(line_of(without_end_spaces(std::string_view(row).substr(0, *gap))));
    row = fmt::format("{}{}", kIndent, row.substr(row.find_first_not_of(' ', *gap)));
  }
  for (auto& line : wrapped(line_of(row), columns, kIndent)) lines.push_back(std::move(line));
}

}  // namespace

std::vector<Line> named_row(std::string_view name, std::string_view about, std::size_t columns) {
  const bool is_beside = columns >= kNarrow && display_width(name) + 4 <= kNameColumns;
  Line line = line_of(fmt::format("  {}", name), Tone::accent);
  if (is_beside) {
    line.push_back({std::string(kNameColumns - width_of(line), ' '), Tone::plain});
    line.push_back(line_of(about).front());
    return wrapped(line, columns, std::string(kNameColumns, ' '));
  }
  auto lines = wrapped(line, columns, kIndent);
  Line below = line_of(about);
  below.insert(below.begin(), {std::string(kIndent), Tone::plain});
  for (auto& part : wrapped(below, columns, kIndent)) lines.push_back(std::move(part));
  return lines;
}

std::vector<Line> table_rows(std::string_view table, std::size_t columns) {
  std::vector<Line> lines;
  const std::string shown = for_screen(table);
  for (const auto row : lines_of(shown)) add_row(std::string(without_end_spaces(row)), columns, lines);
  return lines;
}

}  // namespace deputy
