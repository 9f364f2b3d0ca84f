#include "tools/line_window.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

// Enough for every line that may be shown whole, and to see that a longer one is longer.
constexpr std::size_t kKeptBytes = 4 * (LineWindow::kMaxCharacters + 1);

// A character whose last bytes were not kept must not count as a mistake in the text.
void drop_cut_character(std::string& line) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, line.size()); ++back) {
    const auto byte = static_cast<unsigned char>(line[line.size() - back]);
    if (byte < 0x80) return;
    if (byte < 0xc0) continue;
    const std::size_t size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (size > back) line.resize(line.size() - back);
    return;
  }
}

}  // namespace

void LineWindow::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t line_break = piece.find('\n');
    const std::string_view part = piece.substr(0, line_break);
    length_ += part.size();
    if (!is_full_ && seen_ + 1 >= limits_.first) line_ += part.substr(0, kKeptBytes - line_.size());
    if (line_break == std::string_view::npos) return;
    end_line();
    piece.remove_prefix(line_break + 1);
    length_ = 0;
  }
}

void LineWindow::finish() {
  if (length_ > 0) end_line();
  length_ = 0;
}

void LineWindow::end_line() {
  ++seen_;
  if (is_full_ || seen_ < limits_.first) return;
  if (line_.size() < length_) {
    drop_cut_character(line_);
  } else if (line_.ends_with('\r')) {
    has_crlf_ = true;
    line_.pop_back();
  }
  const std::string next = row();
  if (text_.size() + next.size() > limits_.bytes) {
    is_full_ = true;
  } else {
    was_mended_ = was_mended_ || !is_utf8(line_);
    text_ += next;
    last_ = seen_;
    is_full_ = last_ - limits_.first + 1 == limits_.lines;
  }
  line_.clear();
}

std::string LineWindow::row() const {
  const std::string text = to_utf8(line_);
  const std::string kept = shorten(text, kMaxCharacters);
  if (kept == text) return fmt::format("{:>6}\t{}\n", seen_, text);
  return fmt::format("{:>6}\t{} [line shortened: it has {} bytes]\n", seen_, kept, with_thousands(length_));
}

}  // namespace deputy
