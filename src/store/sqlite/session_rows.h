// Sessions as rows: a view of the journal, so a damaged row is made again from that.
#pragma once

#include <optional>
#include <vector>

#include "store/sqlite/database.h"
#include "store/store.h"
#include "transcript/session.h"

namespace deputy {

struct SessionRow {
  Session session;
  std::int64_t events = 0;  // records in the journal; 0: not counted yet
};

// The one spelling of a delegation's key in the database.
std::string delegation_text(const DelegationKey& key);

Result<Statement> prepare_put_session(const Database& database);
Result<void> put_session(Statement& put, const SessionRow& row);

// `column` is id, uuid or delegation.
Result<std::optional<SessionRow>> select_session(const Database& database, std::string_view column,
                                                 std::string_view value);
// For who only reads: also where the row cannot be found any more.
Result<std::optional<SessionRow>> recover_session(const Database& database, const SessionId& id);
// How many records the rows of a tree count, those that cannot be believed left out.
Result<std::int64_t> events_counted(const Database& database, const SessionId& tree);
Result<std::vector<Session>> select_sessions(const Database& database, const SessionFilter& filter);

}  // namespace deputy
