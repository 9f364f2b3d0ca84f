// Brings a database to the version this program knows, by numbered steps in one transaction, and lets it keep
// a log (WAL). A newer database is refused and left as it is, and so is one that is damaged or another
// program's: whose version is none or not that of its tables.
#pragma once

#include "store/sqlite/database.h"

namespace deputy {

// What the first bytes of a database file tell before anything is opened, since SQLite writes when it opens:
// whether it is one, and not a newer one. `beginning` is kHeaderBytes of it, or the whole file where it is
// shorter. False where migrate() would change it.
inline constexpr std::size_t kHeaderBytes = 100;
Result<bool> check_header(std::string_view beginning, std::string_view path);
// Whether the tables are those of the version: what migrate() looks at first, here without a change to any
// file.
Result<void> check_tables(const std::string& path);

Result<void> migrate(const Database& database);
int newest_schema();

}  // namespace deputy
