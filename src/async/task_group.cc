#include "async/task_group.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <new>
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

// Its tasks would go on with what is gone: a crash here is what the journal is for.
TaskGroup::~TaskGroup() {
  if (state_->running > 0) std::terminate();
}

namespace {

constexpr int kMostFailures = 1000;

// A stop is a value here: asio's own, which nothing asks for, is never to become an exception.
Task<> without_throwing_stops(Task<> task) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  co_await std::move(task);
}

}  // namespace

void TaskGroup::spawn(Task<> task) {
  ++state_->running;
  try {
    boost::asio::co_spawn(loop_.executor(), without_throwing_stops(std::move(task)),
                          [state = state_](const std::exception_ptr& error) { state->finished(error); });
  } catch (const std::bad_alloc&) {  // what was never started is never finished
    --state_->running;
    throw;
  }
}

std::size_t TaskGroup::size() const { return state_->running; }

Task<> TaskGroup::join() {
  int failures = 0;
  while (state_->running > 0) {  // what woke us may have woken somebody who started another
    try {
      Waiter<bool> all_finished;
      state_->joining.push_back(all_finished);
      co_await all_finished.wait();
    } catch (const std::bad_alloc&) {  // whoever owns them must not go before they do
      if (++failures > kMostFailures) throw;
    }
  }
  if (state_->bug) std::rethrow_exception(std::exchange(state_->bug, nullptr));
}

Task<> TaskGroup::stop(StopReason reason) {
  stop_.request(reason);
  co_await join();
}

}  // namespace deputy
