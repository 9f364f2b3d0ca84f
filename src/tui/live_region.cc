#include "tui/live_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/display.h"

namespace deputy {
namespace {

// Lines of the frame that are longer than the screen are cut by the terminal instead of wrapped: a character
// that it draws wider than was counted must not cost a row.
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kNoWrap = "\x1b[?7l";
constexpr std::string_view kWrap = "\x1b[?7h";

// None where there are fewer.
std::size_t less(std::size_t count, std::size_t taken) { return count - std::min(count, taken); }

std::size_t count_of(int count) { return static_cast<std::size_t>(std::max(0, count)); }

std::vector<std::size_t> widths_of(const std::vector<Line>& lines, int screen_columns) {
  std::vector<std::size_t> widths;
  for (const Line& line : lines) widths.push_back(std::min(width_of(line), count_of(screen_columns)));
  return widths;
}

std::size_t rows_for_all(std::span<const std::size_t> widths, int screen_columns) {
  std::size_t rows = 0;
  for (const std::size_t width : widths) rows += rows_for(width, screen_columns);
  return rows;
}

}  // namespace

std::size_t rows_for(std::size_t columns, int screen_columns) {
  const auto screen = static_cast<std::size_t>(std::max(1, screen_columns));
  return columns == 0 ? 1 : (columns + screen - 1) / screen;
}

// In the letters that the terminal has, of which some take more columns.
Frame LiveRegion::as_shown(Frame frame, int screen_columns) const {
  if (style_.unicode) return frame;
  if (frame.cursor_row < frame.lines.size()) {
    const std::string text = plain_text(frame.lines[frame.cursor_row]);
    const std::string_view before = display_prefix(text, frame.cursor_column);
    const std::size_t more = less(in_ascii(before).size(), display_width(before));
    frame.cursor_column = std::min(frame.cursor_column + more, count_of(screen_columns));
  }
  for (Line& line : frame.lines) line = in_ascii(line);
  return frame;
}

// As a terminal of so many columns has wrapped what was drawn. A cursor behind the last character stays
// behind it, also where that ends a row.
std::size_t LiveRegion::rows_above_cursor(int columns) const {
  const auto widths = widths_of(drawn_.lines, size_.columns);
  const std::size_t lines_above = std::min(drawn_.cursor_row, widths.size());
  std::size_t rows =
      rows_for_all(pushed_off_, columns) + rows_for_all(std::span(widths).first(lines_above), columns);
  if (lines_above < widths.size()) {
    const bool is_behind = drawn_.cursor_column >= widths[lines_above];
    rows += rows_for(drawn_.cursor_column + (is_behind ? 0 : 1), columns) - 1;
  }
  return rows;
}

// No terminal goes up beyond its first row, whatever is still above it.
std::string LiveRegion::to_top(TerminalSize size) const {
  const std::size_t rows = rows_above_cursor(size.columns);
  return rows > 0 ? fmt::format("\r\x1b[{}A", rows) : "\r";
}

// What stands higher than the cursor's lowest place allows is above the screen. tmux takes the rows that a
// lower window has no room for from below the cursor first, and pushes off as many as it wraps, also where
// there are blank ones below.
void LiveRegion::follow_resize(TerminalSize size) {
  const auto widths = widths_of(drawn_.lines, size_.columns);
  const std::size_t lowered = count_of(size_.rows - size.rows);
  const auto below = std::span(widths).subspan(std::min(drawn_.cursor_row + 1, widths.size()));
  const std::size_t rows_below = rows_for_all(below.first(less(below.size(), lowered)), size.columns);
  std::size_t rows_off = less(rows_above_cursor(size.columns), less(count_of(size.rows), rows_below + 1));
  rows_surely_above_ = less(rows_surely_above_, lowered + rows_for_all(widths, size.columns) - widths.size());

  auto lines = std::exchange(pushed_off_, {});
  lines.insert(lines.end(), widths.begin(), widths.end());
  for (auto width = lines.begin(); width != lines.end() && rows_off > 0; ++width) {
    pushed_off_.push_back(std::min(*width, rows_off * count_of(size.columns)));
    rows_off = less(rows_off, rows_for(*width, size.columns));
  }
}

std::string LiveRegion::draw(const std::vector<Line>& finished, const Frame& wanted, TerminalSize size) {
  const Frame frame = as_shown(wanted, size.columns);
  const bool is_resized = size != size_;
  const std::string up = to_top(size);
  const std::size_t rows_taken =
      std::min(rows_for_all(widths_of(drawn_.lines, size_.columns), size.columns), count_of(size.rows));
  if (is_resized) follow_resize(size);
  // Where the next resize may push off rows of the frame, its last row stays where it is, and blank ones
  // stand above: they are pushed off first. As many as the frame has, each of which may be wrapped.
  const std::size_t blank_rows = is_resized ? less(frame.lines.size(), rows_surely_above_) : blank_rows_;
  blank_rows_ = std::min(blank_rows, less(rows_taken, finished.size() + frame.lines.size()));
  Frame placed{std::vector<Line>(blank_rows_), blank_rows_ + frame.cursor_row, frame.cursor_column};
  placed.lines.insert(placed.lines.end(), frame.lines.begin(), frame.lines.end());
  if (finished.empty() && !is_resized && placed == drawn_) return {};

  std::string bytes(kHideCursor);
  bytes += up;
  if (is_resized || !finished.empty() || placed.lines.size() < drawn_.lines.size()) bytes += kEraseFromHere;
  for (const auto& line : finished) bytes += to_terminal(line, style_) + "\r\n";
  bytes += kNoWrap;
  for (std::size_t at = 0; at < placed.lines.size(); ++at) {
    if (at > 0) bytes += "\r\n";
    bytes += kEraseRow;
    bytes += to_terminal(placed.lines[at], style_);
  }
  const std::size_t last = less(placed.lines.size(), 1);
  if (last > placed.cursor_row) bytes += fmt::format("\x1b[{}A", last - placed.cursor_row);
  bytes += '\r';
  if (placed.cursor_column > 0) bytes += fmt::format("\x1b[{}C", placed.cursor_column);
  bytes += kWrap;
  bytes += kShowCursor;
  if (!finished.empty()) pushed_off_.clear();  // they stand between
  rows_surely_above_ =
      std::min(rows_surely_above_ + finished.size(), less(count_of(size.rows), placed.lines.size()));
  drawn_ = std::move(placed);
  size_ = size;
  return bytes;
}

std::string LiveRegion::erase(TerminalSize size) {
  std::string bytes = to_top(size);
  bytes += kEraseFromHere;
  drawn_ = {};
  blank_rows_ = 0;
  pushed_off_.clear();
  return bytes;
}

// From the row below the finished ones so many line feeds push off those and no other; a screen that is
// erased instead keeps them on some terminals only. It is erased, too, for what others may have left there.
std::string LiveRegion::clear(TerminalSize size) {
  std::string bytes = erase(size);
  bytes.append(less(count_of(size.rows), 1), '\n');
  bytes += "\x1b[H";
  bytes += kEraseFromHere;
  rows_surely_above_ = 0;
  return bytes;
}

void LiveRegion::forget() {
  drawn_ = {};
  blank_rows_ = 0;
  pushed_off_.clear();
  rows_surely_above_ = 0;
  size_ = {.columns = 0, .rows = 0};  // whatever stands below is none of it
}

}  // namespace deputy
