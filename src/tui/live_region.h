// The bytes that bring a terminal from what it shows to what it should show: finished lines go into its own
// scrollback, the frame stands below them and is drawn over in place. Never more than the terminal's rows.
// Pure: it knows what it drew, and no terminal.
//
// A terminal that changes its size has wrapped and moved what stood on it before anybody is told. Where it
// wraps lines anew (tmux) and each size is told before the next one comes, the screen shows the frame once,
// and no finished line is erased. Rows of the frame that a smaller window pushed off the screen are erased
// when a larger one brings them back. What cannot be helped: they stay in the scrollback, which nobody can
// write to, where lines were finished meanwhile; where blank rows stood below the frame, as nobody knows then
// how many were pushed off; and where they do not come back. tmux brings back as many rows as a higher window
// has more, and as many as it joins in a wider one: of a frame that is wrapped to more rows than the window
// has (a long question at 40 columns that becomes 30), those beyond that stay above the screen for good.
// Blank rows stay there, too. Of sizes that come faster than they are told, and on a terminal that cuts lines
// instead of wrapping them (xterm), rows are counted that were never wrapped: as many finished ones may be
// erased.
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
  std::string draw(const std::vector<Line>& finished, const Frame& wanted, TerminalSize size);
  // Takes the frame off the screen; the cursor stands where it began.
  std::string erase(TerminalSize size);
  // A screen with nothing on it: what was finished goes into the scrollback, the next frame begins at the
  // top.
  std::string clear(TerminalSize size);
  // Others have written on the screen: the next frame begins where the cursor stands.
  void forget();

 private:
  Frame as_shown(Frame frame, int screen_columns) const;
  std::size_t rows_above_cursor(int columns) const;
  std::string to_top(TerminalSize size) const;
  void follow_resize(TerminalSize size);

  Style style_;
  Frame drawn_;                          // with the blank rows above it
  std::size_t blank_rows_ = 0;           // that the next finished lines fill
  std::vector<std::size_t> pushed_off_;  // the columns of each line that stands just above the screen's top
  std::size_t rows_surely_above_ = 0;    // on the screen
  TerminalSize size_;
};

}  // namespace deputy
