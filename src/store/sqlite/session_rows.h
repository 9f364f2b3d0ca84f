// Sessions as rows: a view of the journal, so a damaged row is made again from that.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "store/sqlite/database.h"
#include "store/store.h"
#include "transcript/session.h"

namespace deputy {

struct SessionRow {
  Session session;
  std::int64_t events = 0;                  // records in the journal; 0: not counted yet
  std::int64_t place = 0;                   // in its table
  std::string settled = {};                 // to_json() of it as text; empty: to be made
  std::optional<SessionState> put_as = {};  // the state in its row, where it was put
};

// The one spelling of a delegation's key in the database.
std::string delegation_text(const DelegationKey& key);

Result<Statement> prepare_put_session(const Database& database);
Result<void> put_session(Statement& put, SessionRow& row);
// Quicker, for a session that was put in the state that it is in: the index of states is left alone. Whether
// its row is still there.
Result<Statement> prepare_change_session(const Database& database);
Result<bool> change_session(Statement& change, SessionRow& row);

// `column` is id or delegation: each has its index.
Result<std::optional<SessionRow>> select_session(const Database& database, std::string_view column,
                                                 std::string_view value);
// For who only reads: also where the row cannot be found any more.
Result<std::optional<SessionRow>> recover_session(const Database& database, const SessionId& id);
// The trees with a session that has not ended, by the index of states alone: what that hides, or cannot be
// read, is left out. For who may as well come to it later, and has no time to look through all there ever
// were.
std::set<SessionId> unfinished_trees_by_index(const Database& database);
// The rows that are found by their tree, those that cannot be believed left out.
Result<std::map<SessionId, SessionRow>> rows_of_tree(const Database& database, const SessionId& tree);
// How many records they count.
std::int64_t events_counted(const std::map<SessionId, SessionRow>& rows);
Result<std::vector<Session>> select_sessions(const Database& database, const SessionFilter& filter);

}  // namespace deputy
