// A queue between tasks of one loop. push never waits; pop waits for a value, for the close, or for a stop.
// What was pushed before the close is still popped after it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "async/stop.h"
#include "async/task.h"
#include "async/waiter.h"

namespace deputy {

template <class T>
class Channel {
 public:
  Channel() : state_(std::make_shared<State>()) {}

  void push(T value) const {
    if (state_->closed) return;
    state_->values.push_back(std::move(value));
    state_->wake_one();
  }
  void close() const {
    state_->closed = true;
    while (!state_->waiting.empty()) state_->wake_one();
  }
  bool empty() const { return state_->values.empty(); }
  std::size_t size() const { return state_->values.size(); }
  std::size_t waiting() const { return state_->waiting.size(); }  // tasks that wait in pop

  // Nothing when closed and drained, or stopped.
  Task<std::optional<T>> pop(StopToken stop) const {
    const auto state = state_;
    for (;;) {
      if (!state->values.empty()) {
        std::optional<T> value = std::move(state->values.front());
        state->values.pop_front();
        co_return value;
      }
      if (state->closed || stop.stopped()) co_return std::nullopt;
      const Waiter<bool> waiter;
      state->waiting.push_back(waiter);
      const auto on_stop = stop.on_stop([waiter] { waiter.resume(false); });
      co_await waiter.wait();
      std::erase_if(state->waiting, [](const auto& one) { return one.resumed(); });
    }
  }

 private:
  struct State {
    std::deque<T> values;
    std::deque<Waiter<bool>> waiting;
    bool closed = false;
    void wake_one() {
      while (!waiting.empty()) {
        const auto first = std::move(waiting.front());
        waiting.pop_front();
        if (first.resumed()) continue;  // it was stopped meanwhile
        first.resume(true);
        return;
      }
    }
  };
  std::shared_ptr<State> state_;
};

}  // namespace deputy
