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
  // Columns as wide as their widest cell, the widest of them cut until all fit. The first row is the head.
  std::vector<Line> lines(std::size_t columns) const;

 private:
  std::vector<std::size_t> widths(std::size_t columns) const;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace deputy
