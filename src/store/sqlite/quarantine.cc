#include "store/sqlite/quarantine.h"

#include <fmt/format.h>

#include "store/sqlite/database.h"

namespace deputy {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 32;

Result<void> copy(const Folder& home, const std::string& name, const std::string& to) {
  TRY(const auto status, home.status(name));
  TRY(const auto bytes, home.read(name, 0, kMostBytes));
  TRY(home.replace(to, bytes));
  TRY(const auto copied, home.read(to, 0, kMostBytes));
  if (copied == bytes && bytes.size() == status.size) return {};
  (void)home.remove(to);
  return fail(ErrorCode::io, fmt::format("the copy of {} is not like it", name),
              "copy deputy.db and deputy.db-wal by hand before you go on");
}

// As SQLite reads it.
Result<std::uint64_t> how_far(const std::string& path) {
  TRY(const auto database, Database::open(path, Database::Mode::read_only));
  TRY(const auto tables,
      database.integer("SELECT count(*) FROM sqlite_master WHERE name IN ('journal', 'inbox')"));
  if (tables == 0) return 0;
  TRY(const auto far, database.integer(tables == 1 ? "SELECT coalesce(max(seq), 0) FROM journal" : kHowFar));
  return static_cast<std::uint64_t>(far);
}

std::uint64_t size_of(const Folder& home, std::string_view name) {
  const auto status = home.status(name);
  return status ? status->size : 0;
}

}  // namespace

Result<std::optional<Loss>> look_for_loss(const Folder& home, const DiskMark& mark) {
  const std::uint64_t expected = mark.read().value_or(0);
  const std::string path = join_path(home.path(), "deputy.db");
  if (size_of(home, "deputy.db") == 0) {
    if (expected == 0 && size_of(home, "deputy.db-wal") == 0) return std::nullopt;
    // SQLite would throw its log away.
    return fail(ErrorCode::corrupt,
                fmt::format("{} is damaged: it is {}, but something was kept in it", path,
                            home.status("deputy.db") ? "empty" : "not there"),
                "restore a copy, or move it, deputy.db-wal and deputy.mark away to start anew; deputy has "
                "not changed them");
  }
  if (expected == 0) return std::nullopt;
  TRY(const std::uint64_t found, how_far(path));
  if (found >= expected) return std::nullopt;
  TRY(const auto copy, set_aside(home, fmt::format("{}-of-{}", found, expected)));
  return Loss{
      {ErrorCode::corrupt,
       fmt::format("{} of the newest records are lost: the log of {} is damaged", expected - found, path),
       fmt::format("all before them is whole; what was there is kept in {}", copy)},
      found};
}

Result<std::string> set_aside(const Folder& home, std::string_view name) {
  const std::string folder = join_path("damaged", name);
  // The database comes last: where it is, all of it is.
  if (!home.status(join_path(folder, "deputy.db"))) {
    TRY(home.make_folder(folder));
    for (const char* file : {"deputy.db-wal", "deputy.db"}) {
      if (home.status(file)) TRY(copy(home, file, join_path(folder, file)));
    }
  }
  return join_path(home.path(), folder);
}

}  // namespace deputy
