// Ctrl-C and its relatives as values on the loop. The first one cancels what runs, a second soon after leaves
// at once; when the terminal goes away the work is left to be resumed.
#pragma once

#include <chrono>
#include <optional>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/result.h"

namespace deputy {

enum class SignalAction { cancel, suspend, leave };

// What a signal means, given the ones before it.
class Interrupts {
 public:
  SignalAction on_signal(int number, TimePoint now);

 private:
  std::optional<TimePoint> last_;
};

// From its making to its end the process no longer dies of these signals. To be made before the first thread,
// which would get them otherwise.
class Signals {
 public:
  static Result<Signals> take();
  Signals(Signals&& other) noexcept;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  // The next one; nothing when stopped.
  Task<std::optional<int>> next(SystemLoop& loop, StopToken stop);

 private:
  explicit Signals(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace deputy
