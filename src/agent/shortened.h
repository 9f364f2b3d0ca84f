// A conversation that is to be summed up may have passed its model's window already: one step can read that
// much. Then results of tools, the oldest first, are told in part, in the copies that the summary is asked
// for with and nowhere else. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "model/provider.h"

namespace deputy {

struct Room {
  std::int64_t tokens = 0;  // that the request may come to
  std::int64_t prefix = 0;  // of these for system prompt and tools
  ModelName model;
};

struct Shortened {
  std::set<std::size_t> messages;  // that are not as they were
  std::optional<Measured>
      measured;  // what they all come to now, in the provider's measure; as it was: no less
};

// Shortens no more than is needed; where nothing helps, as much as there is.
Shortened shorten_results(std::vector<Message>& messages, const std::optional<Measured>& measured,
                          const Room& room);

// How much a request for a summary may hold: an estimate errs, and the summary needs room.
std::int64_t room_to_sum_up(std::int64_t window, int max_output_tokens);

}  // namespace deputy
