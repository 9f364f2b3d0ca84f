#include "app/output_lines.h"

#include "base/text.h"

namespace deputy {

std::string OutputLines::take(std::string_view piece, const Redactor& redactor) {
  held_ += piece;
  const std::size_t lines = held_.rfind('\n') + 1;  // npos + 1 is 0
  const bool is_full = held_.size() > kMostHeld;
  if (lines == 0 && !is_full) return "";
  std::size_t end = redactor.settled(held_, is_full ? held_.size() : lines);
  if (!is_full && end < lines) end = std::string_view(held_).substr(0, end).rfind('\n') + 1;
  std::string rest;
  if (is_full && end == 0) {
    end = held_.size();
    rest = Redactor::rest_of_open_key(held_);
  }
  std::string shown = redactor.redact(to_utf8(std::string_view(held_).substr(0, end)));
  held_ = rest.empty() ? held_.substr(end) : std::move(rest);
  return shown;
}

}  // namespace deputy
