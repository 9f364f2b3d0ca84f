// An approval for always: the rule goes into the person's own settings.
#pragma once

#include <string>

#include "app/program.h"
#include "async/pool.h"
#include "async/stop.h"
#include "async/task.h"

namespace deputy {

// To the settings in the file at `path`, made where it is missing. One after the other, in this process or
// another: none is lost. Takes its turn (turn.h).
Task<Result<void>> add_rule(Loop& loop, Pool& pool, Disk& disk, std::string path, Rule rule, StopToken stop);

// The file it was written to.
Task<Result<std::string>> write_rule(Program& program, Pool& pool, std::string rule, StopToken stop);

}  // namespace deputy
