// A table of Markdown: its cells, and how it stands on a screen that may be too narrow for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tui/line.h"

namespace deputy {

class MarkdownTable {
 public:
  void begin_row() { rows_.emplace_back(); }
  void begin_cell() { rows_.back().emplace_back(); }
  void add(std::string_view text);
  // What was added to the cell that was begun last.
  [[nodiscard]] std::string_view cell() const;
  // Columns as wide as their widest cell, the cells of the widest wrapped until all fit; where that would
  // leave too little of them, each cell has a line that begins with its heading. The first row is the head.
  [[nodiscard]] std::vector<Line> lines(std::size_t columns) const;

 private:
  // Of each column; nothing where they do not fit.
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t columns) const;
  [[nodiscard]] std::vector<Line> in_columns(const std::vector<std::size_t>& widths) const;
  [[nodiscard]] std::vector<Line> cell_by_cell(std::size_t columns) const;

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace deputy
