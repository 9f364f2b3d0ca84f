// What a server sends for a page, after a line that says its type, and for a search: whatever the bytes, what
// comes of them is text, and a search finds a few hits, each part of them on one line.
#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "must.h"
#include "net/web_url.h"
#include "tools/search_engine.h"
#include "tools/web_page.h"

using namespace deputy;

namespace {

void check_line(const std::string& text) {
  must(is_utf8(text) && !text.contains('\n') && !text.contains('\r'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view sent(reinterpret_cast<const char*>(bytes), size);
  static const WebUrl asked = *parse_web_url("https://example.org/a/b");
  const auto type = sent.substr(0, sent.find('\n'));
  const auto body = sent.substr(std::min(type.size() + 1, sent.size()));
  if (const auto page = page_text(asked, type, body)) {
    must(is_utf8(page->text) && is_utf8(page->title));
  } else {
    must(is_utf8(page.error().message));
  }
  for (const auto service : {SearchService::searxng, SearchService::brave, SearchService::tavily}) {
    const auto hits = search_hits(service, sent);
    if (!hits) continue;
    must(hits->size() <= kMostSearchHits);
    for (const SearchHit& hit : *hits) {
      for (const auto& part : {hit.title, hit.url, hit.excerpt}) check_line(part);
      must(!hit.url.empty());
    }
  }
  return 0;
}
