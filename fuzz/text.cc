// Whatever the bytes are, text functions keep to their limits and give valid UTF-8 where they promise it.
#include "base/text.h"

#include <algorithm>

#include "must.h"

using namespace deputy;

namespace {

void cut(std::string_view text, std::size_t max) {
  const bool valid = is_utf8(text);
  const std::string_view prefix = utf8_prefix(text, max);
  const std::string_view suffix = utf8_suffix(text, max);
  must(text.starts_with(prefix) && prefix.size() <= max && prefix.size() + 3 >= std::min(max, text.size()));
  must(text.ends_with(suffix) && suffix.size() <= max && suffix.size() + 3 >= std::min(max, text.size()));
  must(!valid || (is_utf8(prefix) && is_utf8(suffix)));

  const std::string shortened = shorten(text, max);
  must(utf8_length(shortened) <= max && (!valid || is_utf8(shortened)));
  must((shortened == text) == (utf8_length(text) <= max));

  const Bounded bound = bounded(text, max);
  must(bound.text.size() <= max && bound.whole == (text.size() <= max));
  must(!valid || is_utf8(bound.text));
  must(bound.whole ? bound.text == text : bound.bytes_left_out <= text.size() && bound.bytes_left_out > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);

  const std::string mended = to_utf8(text);
  must(is_utf8(mended) && utf8_length(mended) == utf8_length(text));
  must((mended == text) == is_utf8(text));

  const std::string visible = made_visible(text);
  must(is_utf8(visible) && made_visible(visible) == visible);
  must(!visible.contains('\x1b') && !visible.contains('\r') && !visible.contains('\0'));

  const std::string line = on_one_line(text);
  must(!line.contains('\n') && !line.contains("  ") && on_one_line(line) == line);

  const std::string name = safe_file_name(text);
  must(!name.empty() && name.size() <= 64 && name.front() != '.' && !name.contains('/'));
  must(safe_file_name(name) == name);

  for (const std::string_view each : lines_of(text)) must(!each.contains('\n'));
  cut(text, bytes[0]);
  cut(mended, bytes[0]);
  return 0;
}
