#include "store/sqlite/migrate.h"

#include <fmt/format.h>

#include <array>

#include "store/migrations/0001_initial.h"
#include "store/migrations/0002_mail.h"
#include "store/migrations/0003_proof.h"
#include "store/migrations/0004_answers.h"
#include "store/migrations/0005_processes.h"
#include "store/migrations/0006_compaction.h"
#include "store/migrations/0007_heard.h"
#include "store/migrations/0008_taken_up.h"

namespace deputy {

namespace {

// The position in this list is the version it leads to, counted from 1.
constexpr std::array kMigrations{k0001Initial,   k0002Mail,       k0003Proof, k0004Answers,
                                 k0005Processes, k0006Compaction, k0007Heard, k0008TakenUp};

// From there on the tables are those of the newest.
constexpr int kOldestReadable = 4;

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kVersionAt = 60;  // four bytes, the highest first
constexpr std::size_t kFormatAt = 18;
constexpr char kKeepsALog = 2;

Result<void> apply(const Database& database, std::int64_t from, std::int64_t to) {
  for (auto version = from; version < to; ++version)
    TRY(database.execute(kMigrations[static_cast<std::size_t>(version)]));
  return {};
}

// Every table with its columns.
Result<std::string> tables_of(const Database& database) {
  return database.text(
      "SELECT group_concat(name, ' ') FROM (SELECT tables.name || '.' || columns.name AS name FROM "
      "sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' "
      "AND tables.name NOT LIKE 'sqlite_%' ORDER BY 1)");
}

std::unexpected<Error> other_tables(const Database& database, std::int64_t version) {
  return std::unexpected(damaged_database(
      database.path(), fmt::format("its tables are not those of a deputy's database of schema {}", version)));
}

// Quicker than a comparison of all there is, for every start. What is damaged is found by who reads it.
Result<void> check_newest(const Database& database) {
  const auto tables = database.integer(
      "SELECT count(*) FROM sqlite_master WHERE type='table' AND name IN "
      "('trees','journal','sessions','inbox')");
  if (tables && *tables != 4) return other_tables(database, newest_schema());
  return {};
}

struct Found {
  std::int64_t version = 0;
  bool has_log = false;
};
// Nothing is changed in a database whose tables are not those that its version says: it is another program's,
// or damaged.
Result<Found> look_at(const Database& database) {
  TRY(const auto one_state, Transaction::begin_reading(database));
  TRY(const auto version, database.integer("PRAGMA user_version"));
  TRY(check_version(version, database.path()));
  TRY(const auto mode, database.text("PRAGMA journal_mode"));
  const Found found{version, mode == "wal"};
  if (version == newest_schema() && found.has_log) {
    TRY(check_newest(database));
    return found;
  }
  TRY(const auto model, Database::open(":memory:", Database::Mode::read_write));
  TRY(apply(model, 0, version));
  TRY(const auto expected, tables_of(model));
  TRY(const auto tables, tables_of(database));
  if (tables != expected) return other_tables(database, version);
  if (version == newest_schema()) return found;
  if (is_readable_schema(version)) return found;
  // Whatever is damaged could still be read by who wrote it, and not once it is half of another version.
  const auto checked = database.check_pages();
  if (checked) return found;
  return fail(checked.error().code, checked.error().message,
              fmt::format("it is of schema {}, and is brought to schema {} only where it is whole: read it "
                          "with the deputy that wrote it, restore a copy, or choose another folder with "
                          "--home; nothing was changed",
                          version, newest_schema()));
}

}  // namespace

Result<void> check_as_it_lies(const std::string& path) {
  TRY(const auto database, Database::open(path, Database::Mode::as_it_lies));
  TRY(const auto beginning, database.file_bytes(0, kHeaderBytes));
  TRY(const bool is_up_to_date, check_header(beginning, path));
  if (is_up_to_date) return check_newest(database);
  TRY(look_at(database));
  return {};
}

int newest_schema() { return static_cast<int>(kMigrations.size()); }

Result<void> check_version(std::int64_t found, std::string_view path) {
  if (found < 0) return std::unexpected(damaged_database(path, "its schema has a number below 0"));
  if (found <= newest_schema()) return {};
  return fail(ErrorCode::too_new,
              fmt::format("{} was written by a newer deputy (schema {}, this one knows {})", path, found,
                          newest_schema()),
              "use the newer deputy, or choose another state folder with --home; nothing was changed");
}

bool is_readable_schema(std::int64_t version) {
  return version >= kOldestReadable && version <= newest_schema();
}

Result<bool> check_header(std::string_view beginning, std::string_view path) {
  if (beginning.empty()) return true;  // SQLite takes it for a new one
  if (beginning.size() < kHeaderBytes || !beginning.starts_with(kMagic))
    return std::unexpected(damaged_database(path, "file is not a database"));
  std::uint32_t version = 0;
  for (const char byte : beginning.substr(kVersionAt, 4))
    version = version << 8 | static_cast<std::uint8_t>(byte);
  TRY(check_version(static_cast<std::int32_t>(version), path));
  return static_cast<int>(version) == newest_schema() && beginning[kFormatAt] == kKeepsALog;
}

bool has_rollback_journal(const Folder& home) {
  const auto journal = home.status("deputy.db-journal");
  return journal && journal->size > 0;
}

Result<void> check_unopened(const Folder& home) {
  const std::string path = join_path(home.path(), "deputy.db");
  const auto file = home.status("deputy.db");
  if (!file && file.error().code == ErrorCode::not_found) return {};
  if (!file || file->kind != EntryKind::file)
    return fail(ErrorCode::denied,
                fmt::format("cannot read {}: {}", path, file ? "it is not a file" : file.error().message),
                "make it a file that you can read, or choose another folder with --home");
  // Where there is a log, its pages count: those of the file may be half-written by a checkpoint, or before a
  // journal by which SQLite takes it back.
  const auto has_log = [&home] {
    const auto log = home.status("deputy.db-wal");
    return (log && log->size > 0) || has_rollback_journal(home);
  };
  if (file->size == 0 || has_log()) return {};
  auto checked = check_as_it_lies(path);
  if (!checked && has_log()) return {};  // somebody writes to it just now
  return checked;
}

Result<void> migrate(const Database& database) {
  TRY(const auto found, look_at(database));
  if (!found.has_log) TRY(database.execute("PRAGMA journal_mode=WAL"));
  if (found.version == newest_schema()) return {};
  TRY(auto transaction, Transaction::begin(database));
  TRY(const auto version, database.integer("PRAGMA user_version"));  // another process may have been quicker
  TRY(check_version(version, database.path()));
  TRY(apply(database, version, newest_schema()));
  TRY(database.execute(fmt::format("PRAGMA user_version={}", newest_schema())));
  return transaction.commit();
}

}  // namespace deputy
