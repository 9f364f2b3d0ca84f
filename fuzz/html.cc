// Whatever the bytes: it ends, and what comes out is text of bounded size.
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "tools/html_markdown.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view html(reinterpret_cast<const char*>(bytes), size);
  const auto page = deputy::page_of(html, [](std::string_view address) { return std::string(address); });
  if (!deputy::is_utf8(page.markdown) || !deputy::is_utf8(page.title)) std::abort();
  if (page.markdown.size() > size * 64 + 1024) std::abort();
  return 0;
}
