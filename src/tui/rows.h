// What stands in columns, on a screen of any width. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "tui/line.h"

namespace deputy {

// A name and what is said of it: side by side, or one below the other where there is little room.
std::vector<Line> named_row(std::string_view name, std::string_view about, std::size_t columns);

// Rows whose cells stand two or more spaces apart, broken between two cells where they are too wide.
std::vector<Line> table_rows(std::string_view table, std::size_t columns);

}  // namespace deputy
