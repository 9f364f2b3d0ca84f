// What parses must print as valid JSON and parse back, apart from the last digits of doubles, as itself.
#include "base/json.h"

#include <algorithm>

#include "base/text.h"
#include "must.h"

using namespace deputy;

namespace {

bool alike(const json::value& a, const json::value& b) {
  if (a.is_double()) return b.is_number();
  if (const auto* array = a.if_array()) {
    return b.is_array() && std::ranges::equal(*array, b.get_array(), alike);
  }
  if (const auto* object = a.if_object()) {
    return b.is_object() && object->size() == b.get_object().size() &&
           std::ranges::all_of(*object, [&](const auto& member) {
             const json::value* other = b.get_object().if_contains(member.key());
             return other != nullptr && alike(member.value(), *other);
           });
  }
  return a == b;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  // Strings that never went through the parser may hold anything.
  const json::value foreign{{text, json::array{json::string(text)}}};
  must(is_utf8(to_json_text(foreign)) && parse_json(to_json_text(foreign)));
  must(is_utf8(to_pretty_json(foreign)) && parse_json(to_pretty_json(foreign)));

  const auto parsed = parse_json(text);
  if (!parsed) {
    must(is_utf8(parsed.error().message) && !parsed.error().message.empty());
    return 0;
  }
  for (const std::string& printed : {to_json_text(*parsed), to_pretty_json(*parsed)}) {
    const auto again = parse_json(printed);
    must(again.has_value() && alike(*parsed, *again));
  }
  return 0;
}
