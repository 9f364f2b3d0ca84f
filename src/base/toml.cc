#include "base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

// The library takes for granted what hostile text does not keep to ("[[["), and its release builds, the
// packaged one too, rest on it. So it is compiled here, with each such assumption checked in every build, and
// a broken one is a mistake in the text. A mistake that it finds itself it returns: thrown, its text would go
// to a constructor that may not throw, and a process without memory for it would end there.
namespace {
struct BrokenAssumption {};
}  // namespace
#undef NDEBUG
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expr) ((expr) ? void() : throw BrokenAssumption())
#define TOML_ENABLE_FORMATTERS 0
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

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

int line_of(const toml::source_region& region) { return std::max(static_cast<int>(region.begin.line), 1); }

TomlValue value_of(const toml::node& node) {
  TomlValue value{.line = line_of(node.source()), .value = TomlTime{}};
  if (const auto* members = node.as_table()) {
    auto& table = value.value.emplace<TomlTable>();
    for (const auto& [name, member] : *members)
      table.push_back({from_ascii(name.str()), line_of(name.source()), value_of(member)});
  } else if (const auto* items = node.as_array()) {
    auto& list = value.value.emplace<TomlList>();
    for (const auto& item : *items) list.push_back(value_of(item));
  } else if (const auto* text = node.as_string()) {
    value.value = from_ascii(text->get());
  } else if (const auto* whole = node.as_integer()) {
    value.value = whole->get();
  } else if (const auto* fraction = node.as_floating_point()) {
    value.value = fraction->get();
  } else if (const auto* truth = node.as_boolean()) {
    value.value = truth->get();
  }
  return value;
}

}  // namespace

Result<TomlValue> parse_toml(std::string_view text, std::string_view file) {
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
    const toml::parse_result parsed = toml::parse(in_ascii(text));
    if (parsed) return value_of(parsed.table());
    const toml::parse_error& error = parsed.error();
    const std::string why = shorten(made_visible(to_utf8(from_ascii(error.description()))), kMostShown);
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}: this is not TOML: {}", file, error.source().begin.line, why),
                std::string(kAdvice));
  } catch (const BrokenAssumption&) {
    return fail(ErrorCode::invalid, fmt::format("{} is not TOML", file), std::string(kAdvice));
  }
}

}  // namespace deputy
