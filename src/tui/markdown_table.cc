#include "tui/markdown_table.h"

#include <algorithm>
#include <numeric>

#include "base/display.h"

namespace deputy {
namespace {

constexpr std::string_view kBetween = " │ ";
constexpr std::size_t kBetweenColumns = 3;
constexpr std::size_t kNarrowest = 3;

}  // namespace

void MarkdownTable::add(std::string_view text) {
  if (!rows_.empty() && !rows_.back().empty()) rows_.back().back() += plain_text(line_of(text));
}

std::vector<std::size_t> MarkdownTable::widths(std::size_t columns) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], display_width(row[at]));
  }
  if (widths.empty()) return widths;
  const std::size_t lines = (widths.size() - 1) * kBetweenColumns;
  while (std::accumulate(widths.begin(), widths.end(), lines) > columns) {
    auto widest = std::ranges::max_element(widths);
    if (*widest <= kNarrowest) break;
    --*widest;
  }
  return widths;
}

std::vector<Line> MarkdownTable::lines(std::size_t columns) const {
  const auto wide = widths(columns);
  std::vector<Line> lines;
  for (const auto& row : rows_) {
    Line line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (at > 0) line.push_back({std::string(kBetween), Tone::faint});
      std::string cell = cut_to_width(row[at], wide[at]);
      if (at + 1 < row.size()) cell.append(wide[at] - display_width(cell), ' ');
      line.push_back({std::move(cell), lines.empty() ? Tone::strong : Tone::plain});
    }
    lines.push_back(cut(line, columns));
    if (lines.size() > 1) continue;
    std::string rule;
    const std::size_t total =
        std::min(columns, std::accumulate(wide.begin(), wide.end(), (wide.size() - 1) * kBetweenColumns));
    for (std::size_t at = 0; at < total; ++at) rule += "─";
    lines.push_back({{std::move(rule), Tone::faint}});
  }
  return lines;
}

}  // namespace deputy
