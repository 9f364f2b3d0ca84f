// A schema and a value, a line each: both foreign. Neither may crash or hang, and every mistake is a line of
// text.
#include "base/json_schema.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line_break = std::min(text.find('\n'), text.size());
  const auto schema = parse_json(text.substr(0, line_break));
  const auto value = parse_json(text.substr(std::min(line_break + 1, text.size())));
  if (!schema || !value) return 0;
  const auto compiled = JsonSchema::compile(*schema);
  if (!compiled) return 0;
  const std::vector<std::string> mistakes = compiled->mistakes_in(*value);
  const bool sound = std::ranges::all_of(mistakes, [](const std::string& line) {
    return !line.empty() && !line.contains('\n') && is_utf8(line);
  });
  if (!sound || mistakes.size() > 10) std::abort();
  return 0;
}
