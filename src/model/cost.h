// What tokens cost.
#pragma once

#include <cstdint>

#include "model/provider.h"
#include "transcript/usage.h"

namespace deputy {

// In millionths of a dollar. Of the input, what was read from a cache and what was written to it is priced as
// such.
std::int64_t cost_of(const Usage& usage, const Price& price);

}  // namespace deputy
