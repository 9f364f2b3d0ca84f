// One attempt to run a recorded tree again, in a world of its own: a simulated clock, disk and process table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/replay_comparison.h"
#include "app/replay_recording.h"
#include "base/result.h"

namespace deputy {

// What is not on record, and is found by trying.
struct Guess {
  // In which order is done what is ready in one moment: as it became so, which is how a program does it
  // unless its threads come between, or one of many.
  std::optional<std::uint64_t> order = {};
  bool has_search = false;                // whether the person had a search service
  std::vector<std::string> created = {};  // the places of sessions, as they came to their ids
  bool operator==(const Guess&) const = default;
};

struct Attempt {
  Result<Replayed> replayed;  // Error::exhausted where it was broken off: all steps were made
  Guess learned;              // the same, with ids for the sessions that come to them in this order
};

// `steps` are those of the simulation that are left for it, and for those after it.
Attempt attempt(const Recording& recording, Guess guess, std::size_t& steps);

}  // namespace deputy
