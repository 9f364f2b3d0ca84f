#include "tools/json_spans.h"

#include <algorithm>

#include "base/json.h"

namespace deputy {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    skip_space();
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }

  Span string() {
    const std::size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
    return {begin, at_};
  }

  // Brackets inside strings do not count; all others do, and pair up in valid JSON.
  Span value() {
    skip_space();
    const std::size_t begin = at_;
    int depth = 0;
    do {
      if (at_ >= text_.size()) break;
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      if (depth == 0 && std::string_view(",]}: \t\r\n").contains(c)) break;
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
      if (depth == 0 && (c == ']' || c == '}')) break;
    } while (true);
    return {begin, at_};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

ArraySpans elements_of(std::string_view text, Span array) {
  ArraySpans spans{.array = array, .elements = {}};
  const std::string_view inside = text.substr(0, array.end);
  Scanner scanner(inside.substr(array.begin));
  if (!scanner.take('[')) return spans;
  for (scanner.skip_space(); !scanner.is_at(']');) {
    const Span element = scanner.value();
    if (element.begin == element.end) break;
    spans.elements.push_back({array.begin + element.begin, array.begin + element.end});
    if (!scanner.take(',')) break;
  }
  return spans;
}

}  // namespace

std::optional<ArraySpans> array_member(std::string_view text, std::string_view key) {
  Scanner scanner(text);
  std::optional<Span> found;
  if (!scanner.take('{')) return std::nullopt;
  for (scanner.skip_space(); scanner.is_at('"'); scanner.skip_space()) {
    const Span name = scanner.string();
    if (!scanner.take(':')) break;
    const Span value = scanner.value();
    const auto spelled = parse_json(text.substr(name.begin, name.end - name.begin));
    if (spelled && spelled->is_string() && spelled->get_string() == key) found = value;
    if (!scanner.take(',')) break;
  }
  if (!found || found->begin >= text.size() || text[found->begin] != '[') return std::nullopt;
  return elements_of(text, *found);
}

}  // namespace deputy
