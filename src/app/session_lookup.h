// From what a person typed to a session: its id, the beginning of one that fits no other, or "newest" for the
// root that was started last. And what became of those that have no end.
#pragma once

#include <string>
#include <vector>

#include "app/failure.h"
#include "store/store.h"

namespace deputy {

Result<Session> find_session(const Store& store, const std::string& typed);
// For a command: one that is not there was typed wrongly.
OrFailure<Session> session_typed(const Store& store, const std::string& typed);

// As they are: those that have not ended and that nobody runs any more were interrupted.
std::vector<Session> as_seen(const Store& store, std::vector<Session> sessions);
Session as_seen(const Store& store, Session session);

// Roots that were left unfinished and that nobody runs, newest first.
Result<std::vector<Session>> left_unfinished(const Store& store);

// The model of its last run: the person may have chosen another than it was started with.
ModelName last_model_of(const Session& session, const std::vector<Event>& events);

}  // namespace deputy
