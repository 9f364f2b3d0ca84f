#include "app/rule_writer.h"

#include "app/places.h"
#include "app/settings_edit.h"

namespace deputy {

Result<std::string> write_rule(Program& program, const std::string& rule) {
  TRY(const auto meant, parse_rule(Decision::allow, rule));
  TRY(auto path,
      own_settings_file(program.environment, program.common.config, program.disk.current_folder()));
  std::string before;
  if (program.disk.status(path)) {
    TRY(before, read_named_file(program.disk, path, kMostSettingsBytes));
  }
  TRY(const auto after, with_rule(before, meant));
  const std::size_t slash = path.rfind('/');
  TRY(const auto folder, program.disk.open(path.substr(0, slash), IfAbsent::create));
  TRY(folder->replace(path.substr(slash + 1), after));
  return path;
}

}  // namespace deputy
