// The names of a repository's configuration as git lists them, in a folder that an agent has worked in: every
// filter that is named there is switched off, and nothing else is set.
#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "delegation/git.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view names(reinterpret_cast<const char*>(bytes), size);
  const auto settings = filters_switched_off(names);
  const auto is_off = [&settings](std::string_view name) {
    return std::ranges::any_of(settings, [name](const GitSetting& setting) { return setting.first == name; });
  };
  for (const GitSetting& setting : settings) {
    must(setting.first.starts_with("filter.") && !setting.first.contains('\n'));
    must(setting.second == (setting.first.ends_with(".required") ? "false" : ""));
  }
  for (const std::string_view line : lines_of(names)) {
    for (const std::string_view part : {".smudge", ".clean", ".process", ".required"}) {
      if (line.starts_with("filter.") && line.size() >= 7 + part.size() && line.ends_with(part))
        must(is_off(line));
    }
  }
  return 0;
}
