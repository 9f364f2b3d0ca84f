// The simulated loop: the same tasks, on a clock that jumps to the next timer when nothing is ready, in an
// order that a seed decides, or without one as they became ready, which is the order of SystemLoop. Equal
// seeds and equal work give equal runs. Single-threaded: nothing but the loop's own thread may post.
#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "async/loop.h"
#include "base/random.h"

namespace deputy {

class SimLoop final : public Loop, private Timers {
 public:
  explicit SimLoop(std::optional<std::uint64_t> seed);
  ~SimLoop() override;

  Executor executor() override;
  const Clock& clock() const override { return clock_; }
  ManualClock& manual_clock() { return clock_; }
  Timers& timers() override { return *this; }
  void post(std::move_only_function<void()> work) override { ready_.push_back(std::move(work)); }

  // Runs until nothing is ready and no timer is set, or `done` says so. Returns how many pieces of work it
  // ran.
  std::size_t run_until(const std::function<bool()>& done);
  std::size_t run_until_idle();
  // Whether there is anything to do before the clock moves, and whether there is nothing to do at all.
  bool has_ready() const { return !ready_.empty(); }
  bool is_idle() const { return !has_ready() && !earliest(); }

 private:
  struct Context : boost::asio::execution_context {
    using boost::asio::execution_context::destroy;
    using boost::asio::execution_context::shutdown;
  };
  class SimExecutor;
  void earliest_changed() override {}
  bool run_one();

  Context context_;
  ManualClock clock_;
  std::optional<SeededRandom> random_;
  std::deque<std::move_only_function<void()>> ready_;
};

}  // namespace deputy
