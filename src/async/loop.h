// The event loop that owns all agent state: one thread runs it, others only post to it. A Loop is what tasks
// run on, where time comes from and where timers are set. SystemLoop stands on the system's clock and
// sockets; SimLoop (sim_loop.h) runs the same tasks on a simulated clock in an order drawn from a seed.
#pragma once

#include <functional>
#include <memory>

#include "async/task.h"
#include "async/timers.h"
#include "base/clock.h"

namespace deputy {

class Loop {
 public:
  virtual ~Loop() = default;
  virtual Executor executor() = 0;
  virtual const Clock& clock() const = 0;
  virtual Timers& timers() = 0;
  // Runs `work` on the loop soon, never at once. Safe from any thread on a SystemLoop.
  virtual void post(std::move_only_function<void()> work) = 0;
};

class SystemLoop final : public Loop {
 public:
  SystemLoop();
  ~SystemLoop() override;
  SystemLoop(const SystemLoop&) = delete;

  Executor executor() override;
  const Clock& clock() const override;
  Timers& timers() override;
  void post(std::move_only_function<void()> work) override;

  // Runs until stop() is called, also when there is nothing to do; not at all if it was called before.
  void run();
  // Safe from any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deputy
