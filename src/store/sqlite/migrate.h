// Brings a database to the version this program knows, by numbered steps in one transaction. A newer database
// is refused and left as it is, and so is a damaged one, whose version is none or not that of its tables.
#pragma once

#include "store/sqlite/database.h"

namespace deputy {

// What the first bytes of a database file tell before anything is opened, since SQLite writes when it opens:
// whether it is one, and not a newer one. `beginning` is kHeaderBytes of it, or the whole file where it is
// shorter.
inline constexpr std::size_t kHeaderBytes = 100;
Result<void> check_header(std::string_view beginning, std::string_view path);

Result<void> migrate(const Database& database);
int newest_schema();

}  // namespace deputy
