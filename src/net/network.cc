#include "net/network.h"

#include <algorithm>

#include "base/text.h"

namespace deputy {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

}  // namespace

std::optional<HttpHeader> header_in(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return HttpHeader{lowered(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
}

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (std::ranges::equal(header.name, name, {}, lower, lower)) return header.value;
  }
  return std::nullopt;
}

}  // namespace deputy
