// What was spent: tokens and money. An unknown price stays unknown, it never counts as nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace deputy {

struct Usage {
  std::int64_t input = 0;  // all input tokens, cached ones included
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  std::optional<std::int64_t> cost_micros;  // millionths of a US dollar

  bool operator==(const Usage&) const = default;
};

// Adding a known cost to an unknown one gives the known part only where one side has no tokens at all.
Usage operator+(const Usage& a, const Usage& b);

}  // namespace deputy
