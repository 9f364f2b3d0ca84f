#include "net/network.h"

#include <algorithm>

namespace deputy {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

}  // namespace

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (std::ranges::equal(header.name, name, {}, lower, lower)) return header.value;
  }
  return std::nullopt;
}

}  // namespace deputy
