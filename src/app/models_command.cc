#include <fmt/format.h>

#include "app/commands.h"
#include "app/model_choice.h"
#include "base/json.h"

namespace deputy {

Ended models_command(Program& program) {
  const auto used = wanted_model(program.common, program.environment, program.disk.current_folder());
  if (program.common.output == OutputForm::text) {
    for (const auto& provider : known_providers()) {
      program.out.write_line(fmt::format("{:<16}{}", provider.written, provider.about));
    }
    program.out.write_line(used ? fmt::format("\nused without --model: {}", used->value)
                                : fmt::format("\nDEPUTY_MODEL cannot be used: {}", used.error().message));
    return ExitStatus::completed;
  }
  json::array providers;
  for (const auto& provider : known_providers()) {
    providers.emplace_back(
        json::object{{"provider", provider.name}, {"model", provider.written}, {"about", provider.about}});
  }
  program.out.write_line(
      to_json_text(json::object{{"providers", std::move(providers)}, {"used", used ? used->value : ""}}));
  return ExitStatus::completed;
}

}  // namespace deputy
