// What a fuzzer says of its target: where it does not hold, the input is kept and shown.
#pragma once

#include <cstdlib>

namespace deputy {

inline void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace deputy
