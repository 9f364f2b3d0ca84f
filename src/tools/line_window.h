// Some lines of a text that comes in pieces, numbered: from a first line on, until enough lines or enough
// bytes are taken; the lines after them are only counted. Keeps no more than what it shows, however long the
// text or its lines are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace deputy {

class LineWindow {
 public:
  static constexpr std::size_t kMaxCharacters = 2000;  // of a line; the rest is left out, and said so

  struct Limits {
    std::size_t first = 1;  // line, counted from 1
    std::size_t lines = 0;
    std::size_t bytes = 0;  // of text()
  };
  explicit LineWindow(Limits limits) : limits_(limits) {}

  void feed(std::string_view piece);
  void finish();  // the last line may have no line break

  // "     1\tfirst line\n", …
  const std::string& text() const { return text_; }
  std::size_t last() const { return last_; }  // line shown; 0 when none is
  std::size_t seen() const { return seen_; }  // lines so far
  bool is_full() const { return is_full_; }
  bool was_mended() const { return was_mended_; }
  bool has_crlf() const { return has_crlf_; }

 private:
  void end_line();
  std::string row() const;

  Limits limits_;
  std::string text_;
  std::string line_;        // the beginning of the line that is being fed
  std::size_t length_ = 0;  // of all of it
  std::size_t seen_ = 0;
  std::size_t last_ = 0;
  bool is_full_ = false;
  bool was_mended_ = false;
  bool has_crlf_ = false;
};

}  // namespace deputy
