#include "tui/live_region.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy {
namespace {

// Lines of the frame that are longer than the screen are cut by the terminal instead of wrapped: a character
// that it draws wider than was counted must not cost a row.
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kNoWrap = "\x1b[?7l";
constexpr std::string_view kWrap = "\x1b[?7h";

}  // namespace

std::size_t rows_for(std::size_t columns, int screen_columns) {
  const auto screen = static_cast<std::size_t>(std::max(1, screen_columns));
  return columns == 0 ? 1 : (columns + screen - 1) / screen;
}

// A terminal that became narrower has wrapped what stood on it. A cursor behind the last character stays
// behind it, also where that ends a row.
std::string LiveRegion::to_top(TerminalSize size) const {
  std::size_t rows = 0;
  for (std::size_t at = 0; at < std::min(drawn_.cursor_row, drawn_.lines.size()); ++at) {
    rows += size.columns < size_.columns ? rows_for(width_of(drawn_.lines[at]), size.columns) : 1;
  }
  if (size.columns < size_.columns && drawn_.cursor_row < drawn_.lines.size()) {
    const bool is_behind = drawn_.cursor_column >= width_of(drawn_.lines[drawn_.cursor_row]);
    rows += rows_for(drawn_.cursor_column + (is_behind ? 0 : 1), size.columns) - 1;
  }
  return rows > 0 ? fmt::format("\r\x1b[{}A", rows) : "\r";
}

std::string LiveRegion::draw(const std::vector<Line>& finished, const Frame& frame, TerminalSize size) {
  const bool is_resized = size != size_;
  if (finished.empty() && !is_resized && frame == drawn_) return {};
  std::string bytes(kHideCursor);
  bytes += to_top(size);
  if (is_resized || !finished.empty() || frame.lines.size() < drawn_.lines.size()) bytes += kEraseFromHere;
  for (const auto& line : finished) bytes += to_terminal(line, style_) + "\r\n";
  bytes += kNoWrap;
  for (std::size_t at = 0; at < frame.lines.size(); ++at) {
    if (at > 0) bytes += "\r\n";
    bytes += kEraseRow;
    bytes += to_terminal(frame.lines[at], style_);
  }
  const std::size_t last = frame.lines.empty() ? 0 : frame.lines.size() - 1;
  if (last > frame.cursor_row) bytes += fmt::format("\x1b[{}A", last - frame.cursor_row);
  bytes += '\r';
  if (frame.cursor_column > 0) bytes += fmt::format("\x1b[{}C", frame.cursor_column);
  bytes += kWrap;
  bytes += kShowCursor;
  drawn_ = frame;
  size_ = size;
  return bytes;
}

std::string LiveRegion::erase(TerminalSize size) {
  std::string bytes = to_top(size);
  bytes += kEraseFromHere;
  drawn_ = {};
  return bytes;
}

void LiveRegion::forget() {
  drawn_ = {};
  size_ = {.columns = 0, .rows = 0};  // whatever stands below is none of it
}

}  // namespace deputy
