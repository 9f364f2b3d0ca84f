// Ctrl-C and its relatives as values on the loop. The first one cancels what runs, a second soon after leaves
// at once; when the terminal goes away the work is left to be resumed; Ctrl-Z hands the terminal to the
// shell until the program is continued, which may also come unheralded; a window of another size is drawn
// afresh.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/result.h"

namespace deputy {

enum class SignalAction { cancel, suspend, leave, pause, come_back, resize };

// What a signal means, given the ones before it.
class Interrupts {
 public:
  SignalAction on_signal(int number, TimePoint now);

 private:
  std::optional<TimePoint> last_;
};

// A job is all that a shell started along with the process. The terminal tells it whole; where one alone is
// stopped, a script around it waits on, and no shell comes.
enum class StopReach { process, job };

// From its making until it gives them back, or its end, the process no longer dies of these signals, nor is
// it stopped by one. To be made before the first thread, which would get them otherwise.
class Signals {
 public:
  // Those that end a program, stop it, or tell that it goes on or that its window has another size.
  static Result<Signals> take();
  Signals(Signals&& other) noexcept;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  // The process dies of them again: nothing runs any more that they could stop in order.
  void give_back() const;
  // Until it is continued, which is then not told by next(). Not where no shell is there that could.
  void stop_process(StopReach reach = StopReach::process) const;
  // The next one; nothing when stopped.
  Task<std::optional<int>> next(SystemLoop& loop, StopToken stop);

 private:
  Signals(int descriptor, const sigset_t& watched) : descriptor_(descriptor), watched_(watched) {}
  int descriptor_ = -1;
  sigset_t watched_{};
};

}  // namespace deputy
