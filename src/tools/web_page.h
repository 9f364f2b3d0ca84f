// What a server sent for a page, as text for a model: HTML becomes Markdown, other text stays, anything else
// is refused by its type. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/web_url.h"

namespace deputy {

struct PageText {
  std::string title;  // empty where the page has none
  std::string text;
  bool cut = false;
};

// `content_type` as in the header, charset included: "text/html; charset=iso-8859-1". Nothing said: judged by
// the bytes.
Result<PageText> page_text(const WebUrl& url, std::string_view content_type, std::string_view body);

}  // namespace deputy
