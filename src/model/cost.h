// What tokens cost.
#pragma once

#include <cstdint>

#include "model/provider.h"
#include "transcript/usage.h"

namespace deputy {

// Of a request that nobody took: it came to nothing, for certain. Of one that somebody may have taken there
// is no cost until its tokens are known, be the model free or not.
inline constexpr Usage kUntaken{.cost_micros = 0};

// In millionths of a dollar. Of the input, what was read from a cache and what was written to it is priced as
// such.
std::int64_t cost_of(const Usage& usage, const Price& price);

}  // namespace deputy
