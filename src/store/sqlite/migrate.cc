#include "store/sqlite/migrate.h"

#include <fmt/format.h>

#include <array>

#include "store/migrations/0001_initial.h"
#include "store/migrations/0002_mail.h"
#include "store/migrations/0003_proof.h"

namespace deputy {

namespace {

// The position in this list is the version it leads to, counted from 1.
constexpr std::array kMigrations{k0001Initial, k0002Mail, k0003Proof};

}  // namespace

int newest_schema() { return static_cast<int>(kMigrations.size()); }

Result<void> migrate(const Database& database) {
  TRY(auto found, database.integer("PRAGMA user_version"));
  if (found > newest_schema()) {
    return fail(ErrorCode::too_new,
                fmt::format("{} was written by a newer deputy (schema {}, this one knows {})",
                            database.path(), found, newest_schema()),
                "use the newer deputy, or choose another state folder with --home; nothing was changed");
  }
  if (found == newest_schema()) return {};
  TRY(auto transaction, Transaction::begin(database));
  TRY(found, database.integer("PRAGMA user_version"));  // another process may have been quicker
  for (auto version = found; version < newest_schema(); ++version) {
    TRY(database.execute(kMigrations[static_cast<std::size_t>(version)]));
  }
  TRY(database.execute(fmt::format("PRAGMA user_version={}", newest_schema())));
  return transaction.commit();
}

}  // namespace deputy
