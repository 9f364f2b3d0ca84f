// For tests: a terminal in memory (libvterm). Bytes in, what a person would see out, scrollback included.
#pragma once

#include <fmt/format.h>
#include <vterm.h>

#include <string>
#include <string_view>
#include <vector>

#include "tui/style.h"

namespace deputy {

class Screen {
 public:
  explicit Screen(TerminalSize size) : terminal_(vterm_new(size.rows, size.columns)), size_(size) {
    vterm_set_utf8(terminal_, 1);
    screen_ = vterm_obtain_screen(terminal_);
    static const VTermScreenCallbacks callbacks{.sb_pushline = push};
    vterm_screen_set_callbacks(screen_, &callbacks, this);
    vterm_screen_reset(screen_, 1);
  }
  ~Screen() { vterm_free(terminal_); }
  Screen(const Screen&) = delete;

  void feed(std::string_view bytes) { vterm_input_write(terminal_, bytes.data(), bytes.size()); }
  // It cuts the lines that have no room any more, as xterm does, and brings none back.
  void resize(TerminalSize size) {
    vterm_set_size(terminal_, size.rows, size.columns);
    size_ = size;
  }

  std::vector<std::string> scrollback;

  // The rows of the screen, without what is blank at their ends and below.
  std::vector<std::string> rows() const {
    std::vector<std::string> rows;
    for (int row = 0; row < size_.rows; ++row) {
      std::vector<VTermScreenCell> cells(static_cast<std::size_t>(size_.columns));
      for (int column = 0; column < size_.columns; ++column)
        vterm_screen_get_cell(screen_, {row, column}, &cells[static_cast<std::size_t>(column)]);
      rows.push_back(text_of(size_.columns, cells.data()));
    }
    while (!rows.empty() && rows.back().empty()) rows.pop_back();
    return rows;
  }
  // Everything, oldest first; a line tells where the cursor is.
  std::string all() const {
    std::string text;
    for (const auto& line : scrollback) text += line + "\n";
    for (const auto& line : rows()) text += line + "\n";
    VTermPos cursor{};
    vterm_state_get_cursorpos(vterm_obtain_state(terminal_), &cursor);
    return text + fmt::format("(cursor at row {}, column {})\n", cursor.row, cursor.col);
  }

 private:
  static std::string text_of(int columns, const VTermScreenCell* cells) {
    std::string text;
    for (int column = 0; column < columns; column += std::max<int>(1, cells[column].width)) {
      if (cells[column].chars[0] == 0) text += ' ';
      for (int at = 0; at < VTERM_MAX_CHARS_PER_CELL && cells[column].chars[at] != 0; ++at)
        append(text, cells[column].chars[at]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
  static void append(std::string& text, std::uint32_t code) {
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
    } else if (code < 0x10000) {
      text += {static_cast<char>(0xe0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3f)),
               static_cast<char>(0x80 | (code & 0x3f))};
    } else {
      text += {static_cast<char>(0xf0 | (code >> 18)), static_cast<char>(0x80 | ((code >> 12) & 0x3f)),
               static_cast<char>(0x80 | ((code >> 6) & 0x3f)), static_cast<char>(0x80 | (code & 0x3f))};
    }
  }
  static int push(int columns, const VTermScreenCell* cells, void* self) {
    static_cast<Screen*>(self)->scrollback.push_back(text_of(columns, cells));
    return 1;
  }

  VTerm* terminal_;
  VTermScreen* screen_;
  TerminalSize size_;
};

}  // namespace deputy
