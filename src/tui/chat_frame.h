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
// The rows of what the chosen child did and says, or did alone where somebody reads back: how many there are,
// and how many of them the frame has room for.
struct FollowedRows {
  std::size_t all = 0;
  std::size_t shown = 0;
};
FollowedRows rows_followed(const ChatState& state);

}  // namespace deputy
