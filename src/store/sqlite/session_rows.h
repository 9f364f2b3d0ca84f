// A Session as a row of the sessions table, and back.
#pragma once

#include "store/sqlite/database.h"
#include "transcript/session.h"

namespace deputy {

// The one spelling of a delegation's key in the database.
std::string delegation_text(const DelegationKey& key);

inline constexpr std::string_view kSessionColumns =
    "id, state, run, result, error, reason, created_us, started_us, ended_us, last_event_us, last_activity, "
    "steps, "
    "input_tokens, output_tokens, cache_read, cache_write, cost_micros, fixed, wait";

Result<Session> session_of_row(const Statement& row);  // selected as kSessionColumns
Result<Statement> prepare_put_session(const Database& database);
// All but the deadline of a session that is there already.
Result<void> put_session(Statement& put, const Session& session);
Result<void> put_deadline(const Database& database, const Session& session);

}  // namespace deputy
