// What the program tells the shell when it ends, decided from values alone: 0 completed, 3 partial, 4
// blocked, 5 the command itself was refused, 1 failed, 2 usage, 130 cancelled.
#pragma once

#include <cstddef>
#include <string_view>

#include "transcript/report.h"

namespace deputy {

enum class ExitStatus {
  completed = 0,
  failed = 1,
  usage = 2,
  partial = 3,
  blocked = 4,
  refused = 5,
  cancelled = 130
};

// A run follows its root session.
ExitStatus exit_status_of(Status root);

// A batch: all ok, none ok or partial, or something between.
struct BatchCount {
  std::size_t ok = 0;
  std::size_t partial = 0;
  std::size_t total = 0;
};
ExitStatus exit_status_of(const BatchCount& batch);

// As `--output json` says it.
std::string_view word_for(ExitStatus status);

}  // namespace deputy
