// A rule and the settings that it is put into: a digit that stands for its decision, the rule to the end of
// its line, and the file. Nothing of what stood there is lost, and the rule is in it once.
#include "app/settings_edit.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "app/settings.h"
#include "base/text.h"
#include "must.h"

using namespace deputy;

namespace {

// Whether it is the other with something put in at one place.
bool contains_all_of(std::string_view longer, std::string_view text) {
  const auto front = std::ranges::mismatch(longer, text).in2 - text.begin();
  const std::string_view rest = text.substr(static_cast<std::size_t>(front));
  return longer.size() >= text.size() && longer.ends_with(rest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  static constexpr std::array kDecisions{Decision::allow, Decision::ask, Decision::deny};
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const std::size_t line_break = std::min(text.find('\n'), text.size());
  const auto rule = parse_rule(kDecisions[bytes[0] % kDecisions.size()], text.substr(0, line_break));
  if (!rule) return 0;
  const std::string_view settings = text.substr(std::min(line_break + 1, text.size()));
  const auto edited = with_rule(settings, *rule);
  if (!edited) {
    must(!edited.error().message.empty() && is_utf8(edited.error().message));
    must(!edited.error().advice.empty());
    return 0;
  }
  must(contains_all_of(*edited, settings));
  const auto read = parse_settings(*edited, "config.toml");
  must(read.has_value() && std::ranges::find(read->rules, *rule) != read->rules.end());
  must(with_rule(*edited, *rule) == *edited);
  return 0;
}
