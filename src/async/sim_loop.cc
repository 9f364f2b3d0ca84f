#include "async/sim_loop.h"

#include <boost/asio/any_io_executor.hpp>

namespace deputy {

// The least an executor must be for asio's awaitables to run on it: it knows its context and never runs work
// at once.
class SimLoop::SimExecutor {
 public:
  explicit SimExecutor(SimLoop& loop) : loop_(&loop) {}

  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
    return loop_->context_;
  }
  static constexpr boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  template <class F>
  void execute(F f) const {
    loop_->post(std::move(f));
  }
  bool operator==(const SimExecutor&) const noexcept = default;

 private:
  SimLoop* loop_;
};

SimLoop::SimLoop(std::optional<std::uint64_t> seed) {
  if (seed) random_.emplace(*seed);
}

SimLoop::~SimLoop() {
  // What is still queued may own tasks, whose ending may queue more.
  while (!ready_.empty()) {
    const auto dying = std::move(ready_);
    ready_.clear();
  }
  forget_all();
  context_.shutdown();
  context_.destroy();
}

Executor SimLoop::executor() { return SimExecutor(*this); }

bool SimLoop::run_one() {
  if (ready_.empty()) {
    const auto next = earliest();
    if (!next) return false;
    clock_.advance_to(*next);
    for (const TimerId id : due(clock_.now())) ready_.push_back([this, id] { fire(id); });
  }
  if (random_) std::swap(ready_[random_->below(ready_.size())], ready_.back());
  auto work = std::move(random_ ? ready_.back() : ready_.front());
  random_ ? ready_.pop_back() : ready_.pop_front();
  work();
  return true;
}

std::size_t SimLoop::run_until(const std::function<bool()>& done) {
  std::size_t count = 0;
  while (!done() && run_one()) ++count;
  return count;
}

std::size_t SimLoop::run_until_idle() {
  return run_until([] { return false; });
}

}  // namespace deputy
