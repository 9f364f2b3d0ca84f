// Whatever a model writes, at any width: lines that fit, without a byte that moves the cursor; and what is
// said to be settled is a prefix that ends where a block does.
#include "tui/markdown.h"

#include <cstdint>

#include "base/display.h"
#include "base/text.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t columns = 20 + bytes[0] % 100;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  for (const Line& line : markdown_lines(text, columns)) {
    const std::string shown = plain_text(line);
    must(is_utf8(shown));
    must(made_visible(shown) == shown && !shown.contains('\n') && !shown.contains('\t'));
    for (const char c : to_terminal(line, {.colour = false, .unicode = false})) must(c >= 0x20 && c < 0x7f);
  }
  const std::size_t settled = settled_prefix(text);
  must(settled <= text.size() && (settled == 0 || text[settled - 1] == '\n'));
  return 0;
}
