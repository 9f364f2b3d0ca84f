// A URL of the web as one canonical text, so that what a rule or a person judged is what is asked: http or
// https, no user or password, port 80 or 443, no character that two parsers may read differently. An address
// has one spelling only. Whether it may be reached is not decided here: Reach::public_only (network.h) judges
// the address at the moment of connecting. Pure functions only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deputy {

inline constexpr std::size_t kMaxUrlBytes = 8 * 1024;

struct WebUrl {
  std::string text;    // "https://example.org/a?b": host in lower case, no default port, no fragment
  std::string scheme;  // "http" or "https"
  std::string host;    // "example.org", "192.0.2.1" or "2001:db8::1"
  std::string target;  // path and query, "/a?b"
  bool operator==(const WebUrl&) const = default;
};

// Characters that a URL's path or query may not hold are percent-encoded, as browsers do it; a host must be
// ASCII (xn--…). Error::invalid says what is wrong and how to put it right.
Result<WebUrl> parse_web_url(std::string_view text);
// What a redirect at `from` leads to; `location` may be relative.
Result<WebUrl> parse_redirect(const WebUrl& from, std::string_view location);

}  // namespace deputy
