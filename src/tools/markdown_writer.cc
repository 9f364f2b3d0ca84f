#include "tools/markdown_writer.h"

#include <algorithm>

#include "base/text.h"

namespace deputy {

void MarkdownWriter::text(std::string_view piece) {
  for (const char c : piece) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f') {
      space_ = true;
    } else {
      put_pending();
      out_ += c;
    }
  }
}

void MarkdownWriter::open(std::string_view mark) {
  put_pending();
  out_ += mark;
  space_ = false;
  after_mark_ = true;
}

void MarkdownWriter::close(std::string_view opened, std::string_view mark) {
  if (after_mark_ && out_.ends_with(opened)) {
    out_.resize(out_.size() - opened.size());
  } else {
    out_ += mark;
  }
  after_mark_ = false;
}

void MarkdownWriter::raw(std::string_view piece) {
  put_pending();
  space_ = false;
  for (const char c : piece) {
    out_ += c;
    if (c == '\n') out_ += prefix_;
  }
}

void MarkdownWriter::line(int blank_lines) {
  space_ = false;
  lines_ = std::max(lines_, blank_lines + 1);
}

void MarkdownWriter::put_pending() {
  if (lines_ > 0) {
    if (!out_.empty()) {
      for (int i = 0; i < lines_; ++i) {
        out_ += '\n';
        if (i + 1 < lines_ && prefix_.contains('>')) out_ += trimmed(prefix_);
      }
    }
    out_ += prefix_;
  } else if (out_.empty()) {
    out_ += prefix_;
  } else if (space_ && !after_mark_ && !out_.ends_with(' ')) {
    out_ += ' ';
  }
  lines_ = 0;
  space_ = after_mark_ = false;
}

}  // namespace deputy
