// A regular expression that a model or a schema brings, and a text, a line and the rest: it is refused with
// words, or it judges any text in good time.
#include "base/pattern.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line_break = std::min(input.find('\n'), input.size());
  const std::string_view expression = input.substr(0, line_break);
  const std::string_view text = input.substr(std::min(line_break + 1, input.size()));
  const auto pattern = Pattern::compile(expression);
  if (!pattern) {
    must(!pattern.error().message.empty() && is_utf8(pattern.error().message));
    return 0;
  }
  must(expression.size() <= Pattern::kMaxBytes && is_utf8(expression));
  const Pattern::Match match = pattern->search(text);
  must(is_utf8(text) || match == Pattern::Match::gave_up);
  return 0;
}
