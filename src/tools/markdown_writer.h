// Writes Markdown from pieces of text and marks: white space folded, blank lines between blocks, and never
// more of either than needed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace deputy {

class MarkdownWriter {
 public:
  void text(std::string_view piece);
  // Marks open before a word and close after one, so that white space stays outside of them.
  void open(std::string_view mark);
  // A mark with nothing after it goes again.
  void close(std::string_view opened, std::string_view mark);
  void raw(std::string_view piece);
  // The next word begins a line, after so many blank ones at least.
  void line(int blank_lines);
  // Of every line from the next on: quotation marks and indentation.
  void push_prefix(std::string_view prefix) { prefix_ += prefix; }
  void pop_prefix(std::size_t bytes) { prefix_.resize(prefix_.size() - bytes); }
  std::string take() { return std::move(out_); }

 private:
  void put_pending();

  std::string out_;
  std::string prefix_;
  int lines_ = 0;       // line breaks owed before the next word
  bool space_ = false;  // white space owed
  bool after_mark_ = false;
};

}  // namespace deputy
