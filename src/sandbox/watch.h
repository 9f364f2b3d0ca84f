// Watching what was spawned to its end: its output is collected up to a bound and passed on as it comes, and
// it is ended when it is stopped or its time is up.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "sandbox/processes.h"
#include "sandbox/spawn.h"

namespace deputy {

// What is kept of a stream, however long it is.
struct Collected {
  std::string text;  // its first bytes
  OutputEnd end = {};
  bool cut = false;

  void take(std::string_view piece, std::size_t max);
};

enum class Interrupted { no, by_stop, by_time_limit };

struct Ran {
  Collected output;
  Collected errors;
  std::string status;
  int init_signal = 0;  // what ended the process that was spawned
  Interrupted interrupted = Interrupted::no;
};

struct WatchLimits {
  std::size_t max_output = 0;
  std::chrono::seconds time{};
  std::function<void(std::string_view)> on_output{};
};

Task<Ran> watch(SystemLoop& loop, Spawned spawned, WatchLimits limits, StopToken stop);

}  // namespace deputy
