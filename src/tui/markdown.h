// Markdown as lines for a terminal: headings, emphasis, lists, quotes, tables, code and diffs. Foreign text:
// nothing in it reaches the screen that for_screen has not passed. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tui/line.h"

namespace deputy {

std::vector<Line> markdown_lines(std::string_view text, std::size_t columns);

// How much of a text that still grows consists of whole blocks: what comes can no longer change how those
// look.
std::size_t settled_prefix(std::string_view text);

// A line of a diff, by the sign it begins with.
Line diff_line(std::string_view text);

}  // namespace deputy
