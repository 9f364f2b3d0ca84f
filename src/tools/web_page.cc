#include "tools/web_page.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "tools/html_markdown.h"

namespace deputy {
namespace {

enum class Kind { html, text, other };

struct MediaType {
  std::string name;     // "text/html"
  std::string charset;  // "utf-8"; empty where none is said
};

MediaType media_type(std::string_view header) {
  MediaType type;
  const auto parts = split(header, ';');
  type.name = lowered(trimmed(parts.front()));
  for (const auto part : parts) {
    constexpr std::string_view kCharset = "charset=";
    const std::string parameter = lowered(trimmed(part));
    if (!parameter.starts_with(kCharset)) continue;
    type.charset = parameter.substr(kCharset.size());
    std::erase(type.charset, '"');
  }
  return type;
}

Kind kind_of(std::string_view name, std::string_view body) {
  if (name == "text/html" || name == "application/xhtml+xml") return Kind::html;
  if (name.starts_with("text/") || name == "application/json" || name == "application/xml" ||
      name == "application/javascript" || name == "application/yaml" || name == "application/x-ndjson" ||
      name.ends_with("+json") || name.ends_with("+xml"))
    return Kind::text;
  if (!name.empty()) return Kind::other;
  if (body.substr(0, 8192).contains('\0')) return Kind::other;
  return lowered(body.substr(0, 1024)).contains("<html") ? Kind::html : Kind::text;
}

// Windows-1252, which is what servers mean when they say Latin-1; both differ from Unicode in 0x80–0x9f only.
std::string from_latin(std::string_view bytes) {
  static constexpr std::array<std::string_view, 32> kSpecial{
      "€",      "\uFFFD", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\uFFFD", "Ž", "\uFFFD",
      "\uFFFD", "‘",      "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", "\uFFFD", "ž", "Ÿ"};
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else if (byte < 0xa0) {
      text += kSpecial[byte - 0x80];
    } else {
      text += static_cast<char>(0xc0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string decoded(std::string_view body, std::string_view charset) {
  if (charset == "iso-8859-1" || charset == "latin1" || charset == "windows-1252") return from_latin(body);
  return to_utf8(body);
}

}  // namespace

Result<PageText> page_text(const WebUrl& url, std::string_view content_type, std::string_view body) {
  const MediaType type = media_type(content_type);
  switch (kind_of(type.name, body)) {
    case Kind::text:
      return PageText{.text = decoded(body, type.charset)};
    case Kind::html: {
      const ResolveLink resolve = [&url](std::string_view address) {
        if (address.starts_with('#')) return std::string();
        const auto target = parse_redirect(url, address);
        return target ? target->text : std::string();
      };
      Page page = page_of(decoded(body, type.charset), resolve);
      return PageText{std::move(page.title), std::move(page.markdown), page.cut};
    }
    case Kind::other:
      break;
  }
  return fail(
      ErrorCode::invalid,
      fmt::format("it is {}, not text", type.name.empty() ? "binary" : shorten(to_utf8(type.name), 60)),
      "look for a page that says the same in text");
}

}  // namespace deputy
