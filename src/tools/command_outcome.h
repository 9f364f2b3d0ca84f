// How a command went, for the model: what it printed, then how it ended where that is worth a word.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/processes.h"

namespace deputy {

std::string told_of(const ProcessResult& result);

// Of what is printed, at least the last `most` bytes and at most twice as many.
void append_tail(std::string& tail, std::string_view piece, std::size_t most);

}  // namespace deputy
