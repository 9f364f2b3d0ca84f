// Runs the tree of a bundle again, in a world of its own: a simulated clock, disk and process table. The
// recorded replies are the script of the scripted model, each at its moment; the tools of the workspace hand
// out what they handed out then, and leave the same facts; delegation, questions, limits and reports are the
// runtime's own. What came from outside comes again. Nothing of this machine is touched.
#pragma once

#include <cstddef>

#include "app/bundle.h"
#include "app/replay_comparison.h"

namespace deputy {

// Of the simulation, in all attempts at a tree; what looks through the whole of it counts as more of them.
inline constexpr std::size_t kMostReplaySteps = 20'000'000;

// A tree that goes another way because of what no bundle holds is an Error that says so, not a difference; so
// is one that takes more steps than there may be.
Result<Replayed> replay(const Bundle& bundle, std::size_t most_steps = kMostReplaySteps);

}  // namespace deputy
