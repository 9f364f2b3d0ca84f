// Brings a database to the version this program knows, by numbered steps in one transaction, and lets it keep
// a log (WAL). A newer database is refused and left as it is, and so is one that is damaged or another
// program's: whose version is none or not that of its tables.
#pragma once

#include "base/disk.h"
#include "store/sqlite/database.h"

namespace deputy {

// Whether the state folder's database is one that migrate() would take, where it has no log; none is one too.
// Before anything else, since SQLite writes when it opens: here no file is made or changed.
Result<void> check_unopened(const Folder& home);
// The same of the file alone, which is not empty: neither its log nor a journal is looked at, or taken back.
Result<void> check_as_it_lies(const std::string& path);
// Whether somebody was stopped while he wrote without a log, as when a database is made: who opens it to be
// written takes that back first.
bool has_rollback_journal(const Folder& home);
// What the first bytes of a database file tell: whether it is one, and not a newer one. `beginning` is
// kHeaderBytes of it, or the whole file where it is shorter. False where migrate() would change it.
inline constexpr std::size_t kHeaderBytes = 100;
Result<bool> check_header(std::string_view beginning, std::string_view path);

// For a database whose pages are whole.
Result<void> migrate(const Database& database);
int newest_schema();
// Whether a database may call itself that: ErrorCode::too_new where a newer deputy wrote it.
Result<void> check_version(std::int64_t found, std::string_view path);
// Whether one of that version can be read as it is; where a page is damaged it is not brought to the newest.
bool is_readable_schema(std::int64_t version);

}  // namespace deputy
