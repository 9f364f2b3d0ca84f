#include "tui/input_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/display.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostHistory = 1000;
constexpr std::size_t kLeastRowsToTell = 3;  // how many lines are not shown: the cursor's, and one each way

std::size_t line_start(const InputLine& input) {
  return input.cursor == 0 ? 0 : input.text.rfind('\n', input.cursor - 1) + 1;
}

std::size_t line_end(const InputLine& input) {
  return std::min(input.text.find('\n', input.cursor), input.text.size());
}

bool is_word(char c) { return c != ' ' && c != '\n' && c != '\t'; }

std::size_t word_start(const InputLine& input) {
  std::size_t at = input.cursor;
  while (at > 0 && !is_word(input.text[at - 1])) --at;
  while (at > 0 && is_word(input.text[at - 1])) --at;
  return at;
}

std::size_t word_end(const InputLine& input) {
  std::size_t at = input.cursor;
  while (at < input.text.size() && !is_word(input.text[at])) ++at;
  while (at < input.text.size() && is_word(input.text[at])) ++at;
  return at;
}

void erase(InputLine& input, std::size_t from, std::size_t to) {
  input.text.erase(from, to - from);
  input.cursor = from;
  input.recalled.reset();
}

void recall(InputLine& input, std::size_t which) {
  if (!input.recalled) input.draft = input.text;
  input.recalled = which;
  input.text = input.history[which];
  input.cursor = input.text.size();
}

enum class Way { up, down };

// Where the line that is `count` line breaks before the one at `at` begins.
std::size_t start_of_lines_before(std::string_view text, std::size_t at, std::size_t count) {
  for (;; --count) {
    const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    if (start == 0 || count == 0) return start;
    at = start - 1;
  }
}

// Where the one that is as many behind it ends.
std::size_t end_of_lines_behind(std::string_view text, std::size_t at, std::size_t count) {
  for (;; --count) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end == text.size() || count == 0) return end;
    at = end + 1;
  }
}

// To the same column of the next line that way; false where there is none.
bool move_line(InputLine& input, Way way) {
  const std::size_t start = line_start(input);
  const std::string_view text = input.text;
  const std::size_t column = display_width(text.substr(start, input.cursor - start));
  if (way == Way::up) {
    if (start == 0) return false;
    input.cursor = start - 1;
  } else {
    if (line_end(input) == input.text.size()) return false;
    input.cursor = line_end(input) + 1;
  }
  const std::size_t target = line_start(input);
  input.cursor = target + display_prefix(text.substr(target, line_end(input) - target), column).size();
  return true;
}

void older(InputLine& input) {
  if (move_line(input, Way::up) || input.history.empty()) return;
  if (!input.recalled) {
    recall(input, input.history.size() - 1);
  } else if (*input.recalled > 0) {
    recall(input, *input.recalled - 1);
  }
}

void newer(InputLine& input) {
  if (move_line(input, Way::down) || !input.recalled) return;
  if (*input.recalled + 1 < input.history.size()) {
    recall(input, *input.recalled + 1);
    return;
  }
  set_text(input, std::move(input.draft));
}

// As in most shells.
bool edit_by_control(InputLine& input, char letter) {
  switch (letter) {
    case 'a':
      input.cursor = line_start(input);
      return true;
    case 'e':
      input.cursor = line_end(input);
      return true;
    case 'b':
      input.cursor = grapheme_start(input.text, input.cursor);
      return true;
    case 'f':
      input.cursor = grapheme_end(input.text, input.cursor);
      return true;
    case 'k':
      erase(input, input.cursor, line_end(input));
      return true;
    case 'u':
      erase(input, line_start(input), input.cursor);
      return true;
    case 'p':
      older(input);
      return true;
    case 'n':
      newer(input);
      return true;
    default:
      return false;
  }
}

}  // namespace

void set_text(InputLine& input, std::string text) {
  input.text = std::move(text);
  input.cursor = input.text.size();
  input.recalled.reset();
}

void insert(InputLine& input, std::string_view text) {
  input.text.insert(input.cursor, text);
  input.cursor += text.size();
  input.recalled.reset();
}

std::string take_text(InputLine& input) {
  std::string text = std::move(input.text);
  set_text(input, "");
  input.draft.clear();
  if (!trimmed(text).empty() && (input.history.empty() || input.history.back() != text)) {
    input.history.push_back(text);
    if (input.history.size() > kMostHistory) input.history.erase(input.history.begin());
  }
  return text;
}

std::string word_before_cursor(const InputLine& input) {
  std::size_t at = input.cursor;
  while (at > 0 && is_word(input.text[at - 1])) --at;
  return input.text.substr(at, input.cursor - at);
}

void replace_before_cursor(InputLine& input, std::size_t bytes, std::string_view word) {
  erase(input, input.cursor - bytes, input.cursor);
  insert(input, word);
}

bool edit(InputLine& input, const Key& key) {
  switch (key.name) {
    case KeyName::text:
    case KeyName::paste:
      insert(input, key.text);
      return true;
    case KeyName::line_break:
      insert(input, "\n");
      return true;
    case KeyName::backspace:
      erase(input, grapheme_start(input.text, input.cursor), input.cursor);
      return true;
    case KeyName::remove:
      erase(input, input.cursor, grapheme_end(input.text, input.cursor));
      return true;
    case KeyName::remove_word:
      erase(input, word_start(input), input.cursor);
      return true;
    case KeyName::left:
      input.cursor = grapheme_start(input.text, input.cursor);
      return true;
    case KeyName::right:
      input.cursor = grapheme_end(input.text, input.cursor);
      return true;
    case KeyName::word_left:
      input.cursor = word_start(input);
      return true;
    case KeyName::word_right:
      input.cursor = word_end(input);
      return true;
    case KeyName::home:
      input.cursor = line_start(input);
      return true;
    case KeyName::end:
      input.cursor = line_end(input);
      return true;
    case KeyName::up:
      older(input);
      return true;
    case KeyName::down:
      newer(input);
      return true;
    case KeyName::control:
      return edit_by_control(input, key.text.front());
    default:
      return false;
  }
}

InputView view_of(const InputLine& input, std::string_view prompt, std::size_t columns, std::size_t rows) {
  const std::size_t indent = display_width(prompt);
  const std::size_t room = columns > indent + 4 ? columns - indent : 4;
  InputView view;
  // A paste may have thousands of lines: those that cannot be on the screen are not looked at.
  const std::size_t begin = start_of_lines_before(input.text, input.cursor, rows);
  const std::size_t stop = end_of_lines_behind(input.text, input.cursor, rows);
  const auto add = [&](std::string text) {
    const bool is_first = begin == 0 && view.lines.empty();
    view.lines.push_back({{is_first ? std::string(prompt) : std::string(indent, ' '), Tone::accent},
                          {std::move(text), Tone::plain}});
  };
  std::string row;
  std::size_t width = 0;
  const auto place_cursor = [&] {
    view.cursor_row = view.lines.size();
    view.cursor_column = indent + width;
  };
  for (std::size_t at = begin; at < stop;) {
    const bool is_break = input.text[at] == '\n';
    const std::size_t end = is_break ? at + 1 : grapheme_end(input.text, at);
    // What was typed before a mark is one with it.
    const bool has_cursor = at <= input.cursor && input.cursor < end;
    if (has_cursor) place_cursor();
    if (is_break) {
      add(std::exchange(row, ""));
      width = 0;
      at = end;
      continue;
    }
    const std::string shown = for_screen(std::string_view(input.text).substr(at, end - at));
    const std::size_t wide = display_width(shown);
    if (width + wide >= room) {  // the last column is the cursor's
      add(std::exchange(row, ""));
      width = 0;
      if (has_cursor) place_cursor();
    }
    row += shown;
    width += wide;
    at = end;
  }
  if (input.cursor == stop) place_cursor();
  add(std::move(row));
  if (view.lines.size() > rows) {
    const std::size_t from =
        std::min(view.lines.size() - rows, view.cursor_row > rows / 2 ? view.cursor_row - rows / 2 : 0);
    const std::size_t behind = view.lines.size() - rows - from;
    view.lines = {view.lines.begin() + static_cast<std::ptrdiff_t>(from),
                  view.lines.begin() + static_cast<std::ptrdiff_t>(from + rows)};
    view.cursor_row -= from;
    // In place of one row more, which is not the cursor's: that is no nearer to what is hidden than half of
    // the rows.
    const auto tell = [&](Line& in_place_of, std::size_t hidden, std::string_view unseen,
                          std::string_view where) {
      if (hidden == 0 || rows < kLeastRowsToTell) return;
      const std::size_t lines = hidden + 1 + static_cast<std::size_t>(std::ranges::count(unseen, '\n'));
      in_place_of =
          cut({{fmt::format("{:{}}… {} lines {}", "", indent, with_thousands(lines), where), Tone::faint}},
              columns);
    };
    const std::string_view text = input.text;
    tell(view.lines.front(), from, text.substr(0, begin), "above");
    tell(view.lines.back(), behind, text.substr(stop), "below");
  }
  return view;
}

}  // namespace deputy
