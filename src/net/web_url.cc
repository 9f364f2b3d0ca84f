#include "net/web_url.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "net/curl_url.h"
#include "net/ip_address.h"

namespace deputy {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::unexpected<Error> refuse(std::string_view why, std::string_view advice) {
  return fail(ErrorCode::invalid, fmt::format("not a URL that can be fetched: {}", why), std::string(advice));
}

Result<void> check_characters(std::string_view text) {
  if (text.size() > kMaxUrlBytes) {
    return refuse(fmt::format("it has {} bytes", with_thousands(text.size())),
                  fmt::format("at most {} are taken", with_thousands(kMaxUrlBytes)));
  }
  if (std::ranges::any_of(text, is_control)) {
    return refuse("there is a control character in it", "write it on one line, without the character");
  }
  if (text.contains('\\')) return refuse("there is a backslash in it", "write / or %5C");
  return {};
}

constexpr std::string_view kInTarget = "-._~!$&'()*+,;=:@/?";
constexpr std::string_view kInUrl = "-._~!$&'()*+,;=:@/?#[]";

// As browsers do it: what has no place there is percent-encoded, what is encoded stays.
std::string encoded(std::string_view target, std::string_view kept) {
  std::string out;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const char c = target[i];
    const bool escape = c == '%' && i + 2 < target.size() && is_hex(target[i + 1]) && is_hex(target[i + 2]);
    if (is_letter(c) || is_digit(c) || kept.contains(c) || escape) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool is_name(std::string_view host) {
  return host.size() <= 253 && std::ranges::all_of(split(host, '.'), [](std::string_view label) {
           return !label.empty() && label.size() <= 63 && std::ranges::all_of(label, [](char c) {
             return is_letter(c) || is_digit(c) || c == '-' || c == '_';
           });
         });
}

// Whether a resolver may take it for an address: its last label begins with a digit and is a number in some
// base.
bool looks_numeric(std::string_view host) {
  const std::string_view last = split(host, '.').back();
  return std::ranges::all_of(last, is_digit) ||
         (last.size() > 1 && last[0] == '0' && last[1] == 'x' && std::ranges::all_of(last.substr(2), is_hex));
}

// The host in its one spelling.
Result<std::string> canonical_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    const auto address = parse_ip_address(host.substr(1, host.size() - 2));
    if (!address || address->bytes().size() != 16) {
      return refuse("its address is not one of IPv6", "write it as [2001:db8::1]");
    }
    return to_text(*address);
  }
  std::string name = lowered(host);
  if (name.ends_with('.')) name.pop_back();
  if (!is_name(name)) {
    return refuse("its host is not a name",
                  "write the host in ASCII letters, digits, '-' and '.' (xn--… for others)");
  }
  if (looks_numeric(name) && !parse_ip_address(name)) {
    return refuse("its host is a number", "write an address as four decimal numbers, such as 192.0.2.1");
  }
  return name;
}

// "//host:port" in front of the target, cut where every parser cuts it once the characters above are refused.
struct Pieces {
  std::string scheme;
  std::string_view host;
  std::string_view port;
  std::string_view target;
};

Result<Pieces> take_apart(std::string_view text) {
  const auto colon = text.find("://");
  Pieces pieces{.scheme = lowered(text.substr(0, colon))};
  if (colon == std::string_view::npos || (pieces.scheme != "http" && pieces.scheme != "https")) {
    return refuse("it is of no kind that can be fetched", "it must begin with https:// or http://");
  }
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  std::string_view authority = text.substr(0, text.find_first_of("/?"));
  pieces.target = text.substr(authority.size());
  if (authority.contains('@')) {
    return refuse("there is a user or a password in it", "leave out what stands before the @");
  }
  // After the last colon, unless that is inside the brackets of an address.
  if (const auto at = authority.rfind(':');
      at != std::string_view::npos && !authority.substr(at).contains(']')) {
    pieces.port = authority.substr(at + 1);
    authority = authority.substr(0, at);
  }
  pieces.host = authority;
  return pieces;
}

}  // namespace

Result<WebUrl> parse_web_url(std::string_view text) {
  TRY(check_characters(text));
  TRY(const Pieces pieces, take_apart(text));
  WebUrl url{.scheme = pieces.scheme};
  TRY(url.host, canonical_host(pieces.host));
  const std::string_view usual = url.scheme == "http" ? "80" : "443";
  const std::string_view port = pieces.port.empty() ? usual : pieces.port;
  if (port != "80" && port != "443") {
    return refuse("only the ports 80 and 443 are fetched from", "leave out the port");
  }
  std::string target = encoded(pieces.target, kInTarget);
  if (!target.starts_with('/')) target.insert(0, "/");

  const std::string host = url.host.contains(':') ? fmt::format("[{}]", url.host) : url.host;
  const std::string origin = port == usual ? fmt::format("{}://{}", url.scheme, host)
                                           : fmt::format("{}://{}:{}", url.scheme, host, port);
  CurlUrl parsed;
  if (!parsed.take(origin + target)) return refuse("it does not parse", "check it for mistakes");
  const std::string query = parsed.part(CURLUPART_QUERY);
  url.target = parsed.part(CURLUPART_PATH) + (query.empty() ? "" : "?" + query);  // without . and ..
  url.text = origin + url.target;
  return url;
}

Result<WebUrl> parse_redirect(const WebUrl& from, std::string_view location) {
  TRY(check_characters(location));
  CurlUrl resolved;
  if (!resolved.take(from.text) || !resolved.take(encoded(location, kInUrl))) {
    return refuse("the redirect leads to something else than the web", "fetch another page");
  }
  TRY(WebUrl url, parse_web_url(resolved.part(CURLUPART_URL)));
  if (from.scheme == "https" && url.scheme == "http") {
    return fail(ErrorCode::denied, fmt::format("the redirect from {} leaves https", from.text),
                "fetch its target by itself if that is meant");
  }
  return url;
}

}  // namespace deputy
