// What every bench shares: its main, which gives it a folder of its own, and how times are told.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace deputy {

// Prints figures; the status to end with. Each bench defines it; the folder is gone after it.
int run_bench(const std::string& folder);

struct Percentiles {
  double p50 = 0;
  double p99 = 0;
};
// In milliseconds.
Percentiles percentiles_of(std::vector<Duration> taken);

// What a sync alone takes here at the time: of a few pages at the end of a file, as the journal does. Empty
// where it cannot be done.
std::vector<Duration> syncs_in(const std::string& folder, int times);

}  // namespace deputy
