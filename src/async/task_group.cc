#include "async/task_group.h"

#include <boost/asio/co_spawn.hpp>
#include <cassert>
#include <utility>
#include <vector>

#include "async/waiter.h"

namespace deputy {

struct TaskGroup::State {
  std::size_t running = 0;
  std::exception_ptr bug;
  std::vector<Waiter<bool>> joining;

  void finished(const std::exception_ptr& error) {
    if (error && !bug) bug = error;
    if (--running > 0) return;
    for (auto& waiter : std::exchange(joining, {})) waiter.resume(true);
  }
};

TaskGroup::TaskGroup(Loop& loop, const StopToken& parent)
    : loop_(loop), stop_(parent), state_(std::make_shared<State>()) {}

TaskGroup::~TaskGroup() { assert(state_->running == 0 && "a TaskGroup must be joined before it dies"); }

void TaskGroup::spawn(Task<> task) {
  ++state_->running;
  boost::asio::co_spawn(loop_.executor(), std::move(task),
                        [state = state_](const std::exception_ptr& error) { state->finished(error); });
}

std::size_t TaskGroup::size() const { return state_->running; }

Task<> TaskGroup::join() {
  while (state_->running > 0) {  // what woke us may have woken somebody who started another
    Waiter<bool> all_finished;
    state_->joining.push_back(all_finished);
    co_await all_finished.wait();
  }
  if (state_->bug) std::rethrow_exception(std::exchange(state_->bug, nullptr));
}

Task<> TaskGroup::stop(StopReason reason) {
  stop_.request(reason);
  co_await join();
}

}  // namespace deputy
