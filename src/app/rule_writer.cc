#include "app/rule_writer.h"

#include "app/places.h"
#include "app/settings_edit.h"
#include "app/turn.h"

namespace deputy {
namespace {

Result<void> put_into(const Disk& disk, const Folder& folder, const std::string& path, const Rule& rule) {
  std::string before;
  if (disk.status(path)) {
    TRY(before, read_named_file(disk, path, kMostSettingsBytes));
  }
  TRY(const auto after, with_rule(before, rule));
  return folder.replace(path.substr(path.rfind('/') + 1), after);
}

}  // namespace

Task<Result<void>> add_rule(Loop& loop, Pool& pool, Disk& disk, std::string path, Rule rule, StopToken stop) {
  CO_TRY(std::shared_ptr<const Folder> folder, co_await on_pool(loop, pool, [&disk, &path] {
           return disk.open(path.substr(0, path.rfind('/')), IfAbsent::create);
         }));
  // Who adds another at the same time must find this one in the file.
  CO_TRY(const auto turn, co_await take_turn(loop, folder, stop));
  co_return co_await on_pool(loop, pool,
                             [&disk, &folder, &path, &rule] { return put_into(disk, *folder, path, rule); });
}

Task<Result<std::string>> write_rule(Program& program, Pool& pool, std::string rule, StopToken stop) {
  CO_TRY(auto meant, parse_rule(Decision::allow, rule));
  CO_TRY(auto path,
         own_settings_file(program.environment, program.common.config, program.disk.current_folder()));
  CO_TRY(co_await add_rule(program.loop, pool, program.disk, path, std::move(meant), stop));
  co_return path;
}

}  // namespace deputy
