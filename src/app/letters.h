// sessions cancel, answer and nudge: a word to a session that another process runs, left in the inbox of the
// store. Its holder acts within 200 ms; without one it waits for `deputy resume`.
#pragma once

#include "app/program.h"
#include "store/store.h"
#include "transcript/session.h"

namespace deputy {

// Leaves it, waits a little for the holder, and tells what became of it.
Ended leave_letter(Program& program, Store& store, const Session& session, LetterKind kind,
                   const std::string& text);

}  // namespace deputy
