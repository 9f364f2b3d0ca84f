// A session's row as a fold over its events: pure, shared by every store.
#pragma once

#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

// `session` must be the one the event is about; SessionCreated replaces it.
void apply_to_session(Session& session, const Event& event);

// Whether it changes what to_json() tells of its session.
bool changes_what_is_settled(const Event& event);

// Whether the event starts a run that is not its session's first.
bool begins_again(const Event& event);

}  // namespace deputy
