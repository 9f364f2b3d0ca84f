// What a tree may use, all its sessions together. Its root session keeps them, so that a resumed tree goes on
// under the terms it was started with.
#pragma once

#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace deputy {

// In place of any limit: there is none.
template <class T>
inline constexpr T kUnlimited = std::numeric_limits<T>::max();

struct TreeLimits {
  int depth = 3;  // the root is 0
  int delegations = 64;
  int live_children = 8;  // per parent
  int live_sessions = 20;
  std::int64_t steps = kUnlimited<std::int64_t>;
  std::int64_t tokens = kUnlimited<std::int64_t>;       // in and out
  std::int64_t cost_micros = kUnlimited<std::int64_t>;  // millionths of a US dollar
  Duration time = Duration::max();                      // of the whole tree
  bool operator==(const TreeLimits&) const = default;
};

}  // namespace deputy
