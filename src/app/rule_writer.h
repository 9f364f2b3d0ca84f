// An approval for always: the rule goes into the person's own settings.
#pragma once

#include <string>

#include "app/program.h"

namespace deputy {

// The file it was written to.
Result<std::string> write_rule(Program& program, const std::string& rule);

}  // namespace deputy
