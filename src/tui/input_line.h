// The line a person types: a text, a cursor between two graphemes, and what was typed before. Pure: keys in,
// a changed value out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tui/key.h"
#include "tui/line.h"

namespace deputy {

struct InputLine {
  std::string text;
  std::size_t cursor = 0;  // in bytes
  std::vector<std::string> history;
  std::optional<std::size_t> recalled;  // which of the history stands here
  std::string draft;                    // what stood here before
};

// Whether the key was one for the line.
bool edit(InputLine& input, const Key& key);
void set_text(InputLine& input, std::string text);
void insert(InputLine& input, std::string_view text);
// Empties the line; what stood there becomes the newest of the history.
std::string take_text(InputLine& input);

// The word before the cursor, from the last space on.
std::string word_before_cursor(const InputLine& input);
// Puts a word in place of so many bytes before the cursor.
void replace_before_cursor(InputLine& input, std::size_t bytes, std::string_view word);

struct InputView {
  std::vector<Line> lines;
  std::size_t cursor_row = 0;
  std::size_t cursor_column = 0;
};
// As it stands on the screen, at most `rows` of it: those around the cursor, and how many lines are above and
// below them.
InputView view_of(const InputLine& input, std::string_view prompt, std::size_t columns, std::size_t rows);

}  // namespace deputy
