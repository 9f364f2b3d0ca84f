// Where one task waits until somebody resumes it with a value, once: the first resume wins, later ones are
// ignored. Resuming never runs the task at once; it is posted to the task's loop. Everything that waits is
// built on this.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cassert>
#include <functional>
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
      hand_over(std::move(state_->handler), std::move(value));
    } else {
      state_->value.emplace(std::move(value));
    }
  }
  bool resumed() const { return state_->resumed; }

  Task<T> wait() const {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(T)>(
        [](auto handler, std::shared_ptr<State> state) {
          const Executor executor = boost::asio::get_associated_executor(handler);
          Handler posted = [executor, h = std::move(handler)](T value) mutable {
            boost::asio::post(
                executor, [h = std::move(h), v = std::move(value)]() mutable { std::move(h)(std::move(v)); });
          };
          if (state->value) {
            hand_over(std::move(posted), *std::move(state->value));
          } else {
            assert(!state->handler && "one task only");
            state->handler = std::move(posted);
          }
        },
        boost::asio::use_awaitable, state_);
  }

 private:
  using Handler = std::move_only_function<void(T)>;
  struct State {
    bool resumed = false;
    std::optional<T> value;
    Handler handler;
  };
  static void hand_over(Handler handler, T value) { handler(std::move(value)); }

  std::shared_ptr<State> state_;
};

}  // namespace deputy
