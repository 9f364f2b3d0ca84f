// The wait for the program's end, and the end of everything it has started. Asked to end (by the life line,
// SIGTERM, the time limit), the tree gets SIGTERM and, after the grace, SIGKILL; when the program has ended,
// or deputy is gone, SIGKILL at once.
#pragma once

#include <sys/types.h>

#include "sandbox/init/options.h"
#include "sandbox/init/tree.h"

namespace deputy::init {

class Supervisor {
 public:
  // `signals` is a signalfd for all signals, which must be blocked.
  Supervisor(const Options& options, Tree& tree, int signals)
      : options_(options), tree_(tree), signals_(signals) {}

  // Returns the wait status of `program` when no descendant is left.
  int run(pid_t program);
  bool timed_out() const { return timed_out_; }
  // Whether it was ended because deputy is gone.
  bool was_orphaned() const { return was_orphaned_; }

 private:
  enum class Phase { running, ending, killing };
  bool reap();
  void advance();
  int patience_ms() const;
  void wait();
  void end();
  void kill();
  void kill_all();
  void take_signals();
  void orphaned();

  const Options& options_;
  Tree& tree_;
  int signals_;
  pid_t program_ = 0;
  int program_status_ = 0;
  bool program_ended_ = false;
  bool lifeline_cut_ = false;
  bool timed_out_ = false;
  bool was_orphaned_ = false;
  Phase phase_ = Phase::running;
  long long limit_at_ = 0;
  long long kill_at_ = 0;  // when to look for survivors next
  int pause_ms_ = 1;
};

}  // namespace deputy::init
