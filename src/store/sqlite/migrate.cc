#include "store/sqlite/migrate.h"

#include <fmt/format.h>

#include <array>

#include "store/migrations/0001_initial.h"
#include "store/migrations/0002_mail.h"
#include "store/migrations/0003_proof.h"
#include "store/migrations/0004_answers.h"
#include "store/migrations/0005_processes.h"

namespace deputy {

namespace {

// The position in this list is the version it leads to, counted from 1.
constexpr std::array kMigrations{k0001Initial, k0002Mail, k0003Proof, k0004Answers, k0005Processes};

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kVersionAt = 60;  // four bytes, the highest first
constexpr std::size_t kFormatAt = 18;
constexpr char kKeepsALog = 2;

Result<void> check_version(std::int64_t found, std::string_view path) {
  if (found < 0) return std::unexpected(damaged_database(path, "its schema has a number below 0"));
  if (found <= newest_schema()) return {};
  return fail(ErrorCode::too_new,
              fmt::format("{} was written by a newer deputy (schema {}, this one knows {})", path, found,
                          newest_schema()),
              "use the newer deputy, or choose another state folder with --home; nothing was changed");
}

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
  if (version == newest_schema() && found.has_log) return found;
  TRY(const auto model, Database::open(":memory:", Database::Mode::read_write));
  TRY(apply(model, 0, version));
  TRY(const auto expected, tables_of(model));
  TRY(const auto tables, tables_of(database));
  if (tables == expected) return found;
  return std::unexpected(damaged_database(
      database.path(), fmt::format("its tables are not those of a deputy's database of schema {}", version)));
}

}  // namespace

int newest_schema() { return static_cast<int>(kMigrations.size()); }

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

Result<void> check_tables(const std::string& path) {
  TRY(const auto database, Database::open(path, Database::Mode::read_only));
  TRY(look_at(database));
  return {};
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
