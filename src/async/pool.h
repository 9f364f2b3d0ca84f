// Where blocking work goes: files, hashing, parsing of large things. The work runs on a pool thread and its
// value comes back on the loop. InlinePool runs it at once, for simulation.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "async/loop.h"
#include "async/task.h"
#include "async/waiter.h"

namespace deputy {

class Pool {
 public:
  virtual ~Pool() = default;
  virtual void run(std::move_only_function<void()> work) = 0;
};

class ThreadPool final : public Pool {
 public:
  explicit ThreadPool(unsigned threads = 4);
  ~ThreadPool() override;  // finishes what was queued
  void run(std::move_only_function<void()> work) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class InlinePool final : public Pool {
 public:
  void run(std::move_only_function<void()> work) override { work(); }
};

// Runs `work` on the pool and yields what it returns; what it throws is thrown in the caller.
template <class Work, class T = std::invoke_result_t<Work>>
Task<T> on_pool(Loop& loop, Pool& pool, Work work) {
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  using Done = std::variant<Value, std::exception_ptr>;
  const Waiter<Done> waiter;
  pool.run([&loop, waiter, work = std::move(work)]() mutable {
    Done done = [&]() -> Done {
      try {
        if constexpr (std::is_void_v<T>) {
          work();
          return Value{};
        } else {
          return Done(std::in_place_index<0>, work());
        }
      } catch (...) {
        return std::current_exception();
      }
    }();
    loop.post([waiter, done = std::move(done)]() mutable { waiter.resume(std::move(done)); });
  });
  Done done = co_await waiter.wait();
  if (done.index() == 1) std::rethrow_exception(std::get<1>(done));
  if constexpr (!std::is_void_v<T>) co_return std::get<0>(std::move(done));
}

}  // namespace deputy
