#include "app/rule_writer.h"

#include "app/places.h"
#include "app/settings_edit.h"
#include "sandbox/folder_hold.h"

namespace deputy {

Result<void> add_rule(const Disk& disk, const std::string& path, const Rule& rule) {
  const std::size_t slash = path.rfind('/');
  TRY(const auto folder, disk.open(path.substr(0, slash), IfAbsent::create));
  // Who adds another at the same time must find this one in the file.
  const auto turn = FolderHold::alone_in_turn(*folder);
  std::string before;
  if (disk.status(path)) {
    TRY(before, read_named_file(disk, path, kMostSettingsBytes));
  }
  TRY(const auto after, with_rule(before, rule));
  return folder->replace(path.substr(slash + 1), after);
}

Result<std::string> write_rule(Program& program, const std::string& rule) {
  TRY(const auto meant, parse_rule(Decision::allow, rule));
  TRY(auto path,
      own_settings_file(program.environment, program.common.config, program.disk.current_folder()));
  TRY(add_rule(program.disk, path, meant));
  return path;
}

}  // namespace deputy
