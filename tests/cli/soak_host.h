// A process that lives as long as the soak: a runtime as a library's host has it, which runs one tree after
// the other behind a server that goes wrong, while other processes come and are killed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace deputy {

// Between two trees, once its caches are full.
struct HeldByHost {
  double hours = 0;  // since its start
  std::int64_t bytes = 0;
  std::ptrdiff_t descriptors = 0;
};

struct HostLife {
  std::vector<HeldByHost> held;
  int trees = 0;
  int incomplete = 0;           // of these, that did not end as they ought to
  bool ended_in_order = false;  // by itself, with status 0
};

class SoakHost {
 public:
  // It begins no tree after `until`, and is killed where it has not ended by `grace` later.
  SoakHost(const std::string& url, std::chrono::steady_clock::time_point until,
           std::chrono::seconds grace = std::chrono::minutes(10));
  ~SoakHost();  // killed, unless it was waited for
  SoakHost(const SoakHost&) = delete;
  HostLife wait();
  const std::string& folder() const { return folder_.path(); }

 private:
  TempFolder folder_;  // where it has its own, which it leaves there when it is killed
  int pid_ = -1;
  int said_ = -1;
};

}  // namespace deputy
