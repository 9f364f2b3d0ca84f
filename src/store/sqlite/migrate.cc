#include "store/sqlite/migrate.h"

#include <fmt/format.h>

#include <array>

#include "store/migrations/0001_initial.h"
#include "store/migrations/0002_mail.h"
#include "store/migrations/0003_proof.h"
#include "store/migrations/0004_answers.h"

namespace deputy {

namespace {

// The position in this list is the version it leads to, counted from 1.
constexpr std::array kMigrations{k0001Initial, k0002Mail, k0003Proof, k0004Answers};

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kVersionAt = 60;  // four bytes, the highest first

Result<void> check_version(std::int64_t found, std::string_view path) {
  if (found < 0) return std::unexpected(damaged_database(path, "its schema has a number below 0"));
  if (found <= newest_schema()) return {};
  return fail(ErrorCode::too_new,
              fmt::format("{} was written by a newer deputy (schema {}, this one knows {})", path, found,
                          newest_schema()),
              "use the newer deputy, or choose another state folder with --home; nothing was changed");
}

}  // namespace

int newest_schema() { return static_cast<int>(kMigrations.size()); }

Result<void> check_header(std::string_view beginning, std::string_view path) {
  if (beginning.empty()) return {};  // SQLite takes it for a new one
  if (beginning.size() < kHeaderBytes || !beginning.starts_with(kMagic))
    return std::unexpected(damaged_database(path, "file is not a database"));
  std::uint32_t version = 0;
  for (const char byte : beginning.substr(kVersionAt, 4))
    version = version << 8 | static_cast<std::uint8_t>(byte);
  return check_version(static_cast<std::int32_t>(version), path);
}

Result<void> migrate(const Database& database) {
  TRY(auto found, database.integer("PRAGMA user_version"));
  TRY(check_version(found, database.path()));
  if (found == newest_schema()) return {};
  TRY(auto transaction, Transaction::begin(database));
  TRY(found, database.integer("PRAGMA user_version"));  // another process may have been quicker
  TRY(check_version(found, database.path()));
  for (auto version = found; version < newest_schema(); ++version) {
    TRY(database.execute(kMigrations[static_cast<std::size_t>(version)]));
  }
  TRY(database.execute(fmt::format("PRAGMA user_version={}", newest_schema())));
  return transaction.commit();
}

}  // namespace deputy
