#include "store/sqlite/quarantine.h"

#include <fmt/format.h>

#include "store/sqlite/database.h"

namespace deputy {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 32;

Result<void> copy(const Folder& home, const std::string& name, const std::string& to) {
  TRY(const auto bytes, home.read(name, 0, kMostBytes));
  TRY(home.replace(to, bytes));
  TRY(const auto copied, home.read(to, 0, kMostBytes));
  if (copied != bytes) return fail(ErrorCode::io, fmt::format("the copy of {} is not like it", name));
  return {};
}

// How far the journal comes as SQLite reads it.
Result<std::uint64_t> records_in(const std::string& path) {
  TRY(const auto database, Database::open(path, Database::Mode::read_only));
  TRY(const auto has_journal, database.integer("SELECT count(*) FROM sqlite_master WHERE name='journal'"));
  if (has_journal == 0) return 0;
  TRY(const auto last, database.integer("SELECT coalesce(max(seq), 0) FROM journal"));
  return static_cast<std::uint64_t>(last);
}

}  // namespace

Result<std::optional<Error>> look_for_loss(const Folder& home, DiskMark& mark, WallTime now) {
  const std::uint64_t expected = mark.read().value_or(0);
  if (expected == 0) return std::nullopt;
  const std::string path = join_path(home.path(), "deputy.db");
  TRY(const auto status, home.status("deputy.db"));
  if (status.size == 0) {  // SQLite would throw its log away
    return fail(
        ErrorCode::corrupt,
        fmt::format("{} is damaged: it is empty, but {} records were kept", path, expected),
        "move it away (with its -wal file) to start anew, or restore a copy; deputy has not changed it");
  }
  TRY(const std::uint64_t found, records_in(path));
  if (found >= expected) return std::nullopt;
  const std::string folder = fmt::format("damaged/{}", to_iso8601(now));
  TRY(home.make_folder(folder));
  for (const char* name : {"deputy.db", "deputy.db-wal"}) {
    if (home.status(name)) TRY(copy(home, name, join_path(folder, name)));
  }
  mark.write(found);
  return Error{
      ErrorCode::corrupt,
      fmt::format("{} of the newest records are lost: the log of {} is damaged", expected - found, path),
      fmt::format("all before them is whole; what was there is kept in {}", join_path(home.path(), folder))};
}

}  // namespace deputy
