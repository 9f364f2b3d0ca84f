#include "tui/markdown_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/display.h"

namespace deputy {
namespace {

constexpr std::string_view kBetween = " │ ";
constexpr std::size_t kBetweenColumns = 3;
constexpr std::size_t kNarrowest = 8;  // no column is made narrower than that

void add_wrapped(std::vector<Line>& lines, const Line& line, std::size_t columns) {
  for (Line& part : wrapped(line, columns, "  ")) lines.push_back(std::move(part));
}

}  // namespace

void MarkdownTable::add(std::string_view text) {
  if (!rows_.empty() && !rows_.back().empty()) rows_.back().back() += plain_text(line_of(text));
}

std::string_view MarkdownTable::cell() const {
  return rows_.empty() || rows_.back().empty() ? std::string_view{} : rows_.back().back();
}

std::vector<std::size_t> MarkdownTable::widths(std::size_t columns) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], display_width(row[at]));
  }
  if (widths.empty()) return widths;
  const std::size_t lines = (widths.size() - 1) * kBetweenColumns;
  for (std::size_t& width : widths) width = std::min(width, columns);  // one by one it would take long
  while (std::accumulate(widths.begin(), widths.end(), lines) > columns) {
    auto widest = std::ranges::max_element(widths);
    if (*widest <= kNarrowest) return {};
    --*widest;
  }
  return widths;
}

std::vector<Line> MarkdownTable::in_columns(const std::vector<std::size_t>& widths) const {
  std::vector<Line> lines;
  for (const auto& row : rows_) {
    const bool is_head = lines.empty();
    std::vector<std::vector<Line>> cells;
    std::size_t height = 0;
    for (std::size_t at = 0; at < row.size(); ++at) {
      cells.push_back(wrapped({{row[at], is_head ? Tone::strong : Tone::plain}}, widths[at]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t part = 0; part < height; ++part) {
      Line line;
      for (std::size_t at = 0; at < cells.size(); ++at) {
        if (at > 0) line.push_back({std::string(kBetween), Tone::faint});
        const Line shown = part < cells[at].size() ? cells[at][part] : Line{};
        line.insert(line.end(), shown.begin(), shown.end());
        const std::size_t width = width_of(shown);
        if (at + 1 < cells.size() && width < widths[at])
          line.push_back({std::string(widths[at] - width, ' '), Tone::plain});
      }
      lines.push_back(std::move(line));
    }
    if (!is_head) continue;
    std::string rule;
    const std::size_t total =
        std::accumulate(widths.begin(), widths.end(), (widths.size() - 1) * kBetweenColumns);
    for (std::size_t at = 0; at < total; ++at) rule += "─";
    lines.push_back({{std::move(rule), Tone::faint}});
  }
  return lines;
}

std::vector<Line> MarkdownTable::cell_by_cell(std::size_t columns) const {
  std::vector<Line> lines;
  if (rows_.empty()) return lines;
  const auto& head = rows_.front();
  if (rows_.size() == 1) {
    for (const std::string& heading : head) add_wrapped(lines, {{heading, Tone::strong}}, columns);
  }
  for (std::size_t row = 1; row < rows_.size(); ++row) {
    if (row > 1) lines.push_back({});
    for (std::size_t at = 0; at < rows_[row].size(); ++at) {
      Line line;
      // Whole once: a long one in each of many rows would come to more than there is memory for.
      if (at < head.size() && !head[at].empty())
        line.push_back({(row == 1 ? head[at] : cut_to_width(head[at], columns)) + ": ", Tone::strong});
      line.push_back({rows_[row][at], Tone::plain});
      add_wrapped(lines, line, columns);
    }
  }
  return lines;
}

std::vector<Line> MarkdownTable::lines(std::size_t columns) const {
  const auto fitting = widths(columns);
  return fitting.empty() ? cell_by_cell(columns) : in_columns(fitting);
}

}  // namespace deputy
