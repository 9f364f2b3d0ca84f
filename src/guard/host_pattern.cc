#include "guard/host_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "guard/host_name.h"

namespace deputy {
namespace {

constexpr std::string_view kDomain = "domain:";

bool is_plain_number(std::string_view text) {
  return !text.empty() && text.size() <= 3 && (text.size() == 1 || text[0] != '0') &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_plain_address(std::string_view host) {
  const auto parts = split(host, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, is_plain_number);
}

}  // namespace

Result<HostPattern> HostPattern::compile(std::string_view text) {
  HostPattern pattern;
  if (text.starts_with(kDomain)) {
    pattern.host_ = ascii_host(trimmed(text.substr(kDomain.size()))).value_or("");
  }
  if (!pattern.host_.empty()) return pattern;
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" does not name a domain", made_visible(shorten(text, 120))),
              "write WebFetch(domain:example.org); its subdomains are meant too");
}

RuleMatch HostPattern::match(std::string_view host) const {
  const auto name = ascii_host(host);
  if (!name) return RuleMatch::maybe;
  if (is_numeric_host(*name)) {
    if (!is_plain_address(*name)) return RuleMatch::maybe;
    return *name == host_ ? RuleMatch::yes : RuleMatch::no;
  }
  const bool is_meant = *name == host_ || (name->ends_with("." + host_) && !is_numeric_host(host_));
  return is_meant ? RuleMatch::yes : RuleMatch::no;
}

}  // namespace deputy
