// Whatever a model, a tool or a file says: what may stand on a screen moves no cursor, begins no escape,
// hides nothing, and is as wide as it is said to be.
#include <algorithm>

#include "base/display.h"
#include "base/text.h"
#include "must.h"

using namespace deputy;

namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n') || byte == 0x7f;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string text = to_utf8({reinterpret_cast<const char*>(bytes) + 1, size - 1});
  const std::string shown = for_screen(text);
  must(is_utf8(shown) && std::ranges::none_of(shown, is_control));
  must(!shown.contains("\xc2\x9b") &&
       !shown.contains("\xe2\x80\xae"));  // CSI in one character; right to left
  for (const std::string_view line : lines_of(shown)) {
    const std::string cut = cut_to_width(line, bytes[0]);
    must(is_utf8(cut) && display_width(cut) <= bytes[0]);
    must(line.starts_with(display_prefix(line, bytes[0])));
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = grapheme_end(line, at);
      must(end > at && end <= line.size());
      at = end;
    }
  }
  return 0;
}
