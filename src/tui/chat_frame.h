// The live region of the chat: what still changes, below what has scrolled away. A pure function of the
// state; it never needs more rows than the screen has, nor more columns.
#pragma once

#include <cstddef>
#include <vector>

#include "tui/chat.h"
#include "tui/line.h"

namespace deputy {

struct Frame {
  std::vector<Line> lines;
  std::size_t cursor_row = 0;
  std::size_t cursor_column = 0;
  bool operator==(const Frame&) const = default;
};

Frame frame_of(const ChatState& state);
// How many rows there are to read of what the chosen child did.
std::size_t rows_followed(const ChatState& state);

}  // namespace deputy
