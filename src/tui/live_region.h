// The bytes that bring a terminal from what it shows to what it should show: finished lines go into its own
// scrollback, the frame stands below them and is drawn over in place. Never more than the terminal's rows.
// Pure: it knows what it drew, and no terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tui/chat_frame.h"
#include "tui/line.h"

namespace deputy {

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
