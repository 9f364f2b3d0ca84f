// A file as Read shows it: the first two bytes say from which line on, how many and how many bytes. Whatever
// pieces the rest comes in, its lines are the same, and what is shown of them is text within its limits.
#include <algorithm>

#include "base/text.h"
#include "choice.h"
#include "must.h"
#include "tools/content_kind.h"
#include "tools/line_window.h"

using namespace deputy;

namespace {

LineWindow shown_of(std::string_view text, LineWindow::Limits limits, std::size_t piece) {
  LineWindow window(limits);
  for (std::size_t at = 0; at < text.size(); at += piece) window.feed(text.substr(at, piece));
  window.finish();
  return window;
}

bool is_same(const LineWindow& one, const LineWindow& other) {
  return one.text() == other.text() && one.last() == other.last() && one.seen() == other.seen() &&
         one.is_full() == other.is_full() && one.was_mended() == other.was_mended() &&
         one.has_crlf() == other.has_crlf();
}

std::size_t breaks_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const LineWindow::Limits limits{
      .first = 1u + bytes[0] % 4u, .lines = 1u + bytes[0] / 4u, .bytes = 64u * bytes[1]};
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  const LineWindow shown = shown_of(text, limits, size);
  must(is_utf8(shown.text()) && shown.text().size() <= limits.bytes);
  const std::size_t rows = shown.last() == 0 ? 0 : shown.last() - limits.first + 1;
  must(breaks_in(shown.text()) == rows && rows <= limits.lines && shown.last() <= shown.seen());
  must(shown.seen() == breaks_in(text) + (text.empty() || text.ends_with('\n') ? 0 : 1));
  if (is_chosen(size, 0, 2)) must(is_same(shown_of(text, limits, 1), shown));
  if (is_chosen(size, 1, 2)) must(is_same(shown_of(text, limits, 7), shown));
  const auto kind = kind_unless_text(text);
  must(kind || !text.contains('\0'));
  must(!kind || kind_unless_text(std::string(text) + "more"));
  return 0;
}
