// What a session and those below it do, line by line as it comes, from whatever process they run in; until
// the session ends.
#pragma once

#include "app/failure.h"
#include "app/program.h"
#include "transcript/session.h"

namespace deputy {

Ended tail_session(Program& program, const Store& store, Session session);

}  // namespace deputy
