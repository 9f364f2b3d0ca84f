// The journal as rows. Each has a checksum over all that gives it its meaning, and is counted twice, among
// the records of its tree and of its session: neither a change nor a gap passes unnoticed. What is damaged is
// Error::corrupt and names its place.
#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/database.h"
#include "transcript/event.h"

namespace deputy {

Result<Statement> prepare_put_event(const Database& database);
// `nth` counts the records of its session from 1.
Result<void> put_event(Statement& put, const Event& event, std::int64_t epoch, std::int64_t nth);

// In order, whole. `count` is how many there must be; nothing where that is not known.
Result<std::vector<Event>> select_events(const Database& database, const SessionId& session,
                                         std::optional<std::int64_t> count);
Result<std::vector<Event>> select_events_of_tree(const Database& database, const SessionId& tree);

}  // namespace deputy
