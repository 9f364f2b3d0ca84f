// What is taken as a URL has one text that reads as itself, and no character in it that could mean more than
// it says; a redirect leads to such a URL too, and never from https to http.
#include <algorithm>
#include <cstdint>

#include "must.h"
#include "net/ip_address.h"
#include "net/web_url.h"

using namespace deputy;

namespace {

void check(const WebUrl& url) {
  must(parse_web_url(url.text) == url);
  must(url.scheme == "http" || url.scheme == "https");
  must(!url.host.empty() && url.target.starts_with('/') && url.text.ends_with(url.target));
  must(std::ranges::all_of(url.text, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; }));
  const std::string_view authority = std::string_view(url.text).substr(
      url.scheme.size() + 3, url.text.size() - url.target.size() - url.scheme.size() - 3);
  must(authority.find_first_of("/?#@%") == std::string_view::npos);
  if (const auto address = parse_ip_address(url.host)) must(to_text(*address) == url.host);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto url = parse_web_url(text)) check(*url);
  for (const auto from : {"https://example.org/a/b?c", "http://[2001:db8::1]/"}) {
    const WebUrl start = parse_web_url(from).value();
    const auto to = parse_redirect(start, text);
    if (!to) continue;
    check(*to);
    must(start.scheme == "http" || to->scheme == "https");
  }
  return 0;
}
