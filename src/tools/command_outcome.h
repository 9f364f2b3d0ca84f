// How a command went, for the model: what it printed, then how it ended where that is worth a word.
#pragma once

#include <string>

#include "sandbox/processes.h"

namespace deputy {

std::string told_of(const ProcessResult& result);

}  // namespace deputy
