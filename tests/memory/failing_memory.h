// All allocations of the program, to be counted and to be refused: of this thread, while a test says so.
#pragma once

#include <utility>

namespace deputy::memory {

extern constinit thread_local long fails_in;  // so many allocations; 0: none does
extern constinit thread_local long counted;
extern constinit thread_local bool is_counting;
extern constinit thread_local bool has_failed;

// Nothing fails while there is one.
struct Pause {
  ~Pause() { is_counting = before; }
  bool before = std::exchange(is_counting, false);
};

// Counts while there is one, and lets the n-th fail; 0: none.
struct Count {
  explicit Count(long failing) {
    fails_in = failing;
    counted = 0;
    has_failed = false;
    is_counting = true;
  }
  ~Count() { is_counting = false; }
  Count(const Count&) = delete;
};

}  // namespace deputy::memory
