// Text as a settings file: it is either refused with a message that can be shown, or it is read, and then it
// narrows as promised.
#include "app/settings.h"

#include "base/text.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto settings = parse_settings(text, "config.toml");
  if (!settings) {
    must(settings.error().message.starts_with("config.toml") && !settings.error().advice.empty());
    must(is_utf8(settings.error().message));
    return 0;
  }
  must(parse_settings(text, "config.toml") == *settings);
  const Settings part = narrowing_part(*settings);
  must(narrowing_part(part) == part && part.rules.size() <= settings->rules.size());
  for (const Rule& rule : part.rules) must(rule.decision != Decision::allow);
  for (const auto& [model, facts] : settings->models)
    must(Catalog(settings->models).facts(ModelName(model)).window.has_value());
  return 0;
}
