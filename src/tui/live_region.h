// The bytes that bring a terminal from what it shows to what it should show: finished lines go into its own
// scrollback, the frame stands below them and is drawn over in place. Never more than the terminal's rows.
// Pure: it knows what it drew, and no terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tui/chat_frame.h"
#include "tui/line.h"

namespace deputy {

// A row that is erased only behind its new text stays as wide as it ever was for a terminal that wraps anew
// when it becomes narrower (tmux): erased as a whole, it is as wide as what is written then.
inline constexpr std::string_view kEraseRow = "\x1b[2K";
// The row that the cursor is at the beginning of, and all below. From the second column on, as a screen that
// is erased from its first one on may be kept in the scrollback (tmux).
inline constexpr std::string_view kEraseFromHere = "\x1b[C\x1b[J\r\x1b[2K";

// That so many columns take, where a terminal became narrower and has wrapped what stood on it.
std::size_t rows_for(std::size_t columns, int screen_columns);

class LiveRegion {
 public:
  explicit LiveRegion(Style style) : style_(style) {}

  // Empty where nothing has changed.
  std::string draw(const std::vector<Line>& finished, const Frame& frame, TerminalSize size);
  // Takes the frame off the screen; the cursor stands where it began.
  std::string erase(TerminalSize size);
  // Others have written on the screen: the next frame begins where the cursor stands.
  void forget();

 private:
  std::string to_top(TerminalSize size) const;

  Style style_;
  Frame drawn_;
  TerminalSize size_;
};

}  // namespace deputy
