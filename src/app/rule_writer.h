// An approval for always: the rule goes into the person's own settings.
#pragma once

#include <string>

#include "app/program.h"

namespace deputy {

// To the settings in the file at `path`, made where it is missing. One after the other, in this process or
// another: none is lost.
Result<void> add_rule(const Disk& disk, const std::string& path, const Rule& rule);

// The file it was written to.
Result<std::string> write_rule(Program& program, const std::string& rule);

}  // namespace deputy
