#include "base/checked_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostShown = 60;
// The library builds and takes down keys such as a.b.c by recursion, however many parts they have.
constexpr std::ptrdiff_t kMostDots = 4'000;
constexpr std::string_view kAdvice = "see https://toml.io for its rules";

// The library meets a letter beyond ASCII with undefined behaviour wherever it expects none. So it gets none:
// their bytes, and the sign itself, are written as ~XX, which a text or comment may hold and nothing else.
std::string in_ascii(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '~') {
      ascii += c;
    } else {
      ascii += fmt::format("~{:02X}", byte);
    }
  }
  return ascii;
}

std::string from_ascii(std::string_view ascii) {
  std::string text;
  for (std::size_t at = 0; at < ascii.size(); ++at) {
    unsigned byte = 0;
    const std::string_view digits = ascii.substr(at).starts_with('~') ? ascii.substr(at + 1, 2) : "";
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16).ptr;
    if (digits.size() == 2 && end == digits.data() + 2) {
      text += static_cast<char>(byte);
      at += 2;
    } else {
      text += ascii[at];
    }
  }
  return text;
}

// Back from in_ascii, in every text of the tree.
void spell_out(toml::node& node) {
  if (auto* text = node.as_string()) text->get() = from_ascii(text->get());
  if (auto* list = node.as_array()) {
    for (auto& each : *list) spell_out(each);
  }
  if (auto* table = node.as_table()) {
    for (auto&& [name, value] : *table) spell_out(value);
  }
}

}  // namespace

std::string toml_key(std::string_view key) { return from_ascii(key); }

Result<toml::table> parse_toml(std::string_view text, std::string_view file) {
  if (!is_utf8(text))
    return fail(ErrorCode::invalid, fmt::format("{} is not UTF-8", file), "save it as UTF-8");
  if (std::ranges::count(text, '.') > kMostDots)
    return fail(ErrorCode::invalid, fmt::format("{} has more than {} dots", file, with_thousands(kMostDots)),
                "shorten it: no such file needs that many");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as some editors begin a file
  if (lowered(text).contains("\\u007e") || lowered(text).contains("\\u0000007e"))
    return fail(ErrorCode::invalid, fmt::format("{} has a ~ that is written as an escape", file),
                "write it as it is");
  try {
    toml::table table = toml::parse(in_ascii(text));
    spell_out(table);
    return table;
  } catch (const toml::parse_error& error) {
    const std::string why = shorten(made_visible(to_utf8(from_ascii(error.description()))), kMostShown);
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}: this is not TOML: {}", file, error.source().begin.line, why),
                std::string(kAdvice));
  } catch (const BrokenTomlAssumption&) {
    return fail(ErrorCode::invalid, fmt::format("{} is not TOML", file), std::string(kAdvice));
  }
}

}  // namespace deputy
