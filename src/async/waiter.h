// Where one task waits until somebody resumes it with a value, once: the first resume wins, later ones are
// ignored. Resuming never runs the task at once; it is posted to the task's loop. Everything that waits is
// built on this.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cassert>
#include <memory>
#include <optional>

#include "async/task.h"

namespace deputy {

template <class T>
class Waiter {
 public:
  Waiter() : state_(std::make_shared<State>()) {}

  // From the loop's thread. A copy of the Waiter may be kept by whoever will resume it.
  void resume(T value) const {
    if (state_->resumed) return;
    state_->resumed = true;
    if (state_->handler) {
      Handler handler = *std::move(state_->handler);
      state_->handler.reset();
      hand_over(std::move(handler), std::move(value));
    } else {
      state_->value.emplace(std::move(value));
    }
  }
  bool resumed() const { return state_->resumed; }

  // Once the task has been taken from its thread nothing here needs memory: what there is not enough for is
  // thrown into the task that would wait.
  Task<T> wait() const {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(T)>(
        [](Handler handler, std::shared_ptr<State> state) {
          if (state->value) {
            hand_over(std::move(handler), *std::move(state->value));
          } else {
            assert(!state->handler && "one task only");
            state->handler.emplace(std::move(handler));
          }
        },
        boost::asio::use_awaitable, state_);
  }

 private:
  using Handler = boost::asio::async_result<boost::asio::use_awaitable_t<>, void(T)>::handler_type;
  struct State {
    bool resumed = false;
    std::optional<T> value;
    std::optional<Handler> handler;
  };
  static void hand_over(Handler handler, T value) {
    const Executor executor = handler.get_executor();
    boost::asio::post(
        executor, [h = std::move(handler), v = std::move(value)]() mutable { std::move(h)(std::move(v)); });
  }

  std::shared_ptr<State> state_;
};

}  // namespace deputy
