// How a test runs a task: run(loop, task) drives the loop until the task has ended and yields what it
// yielded, or throws what it threw. On a SimLoop a task that waits for something that can never come ends the
// test program with a message; on a SystemLoop the test's own time limit does.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

#include "async/loop.h"
#include "async/sim_loop.h"
#include "async/task.h"
#include "async/task_group.h"

namespace deputy {

namespace run_internal {

template <class T>
using Ending = std::variant<std::monostate, std::conditional_t<std::is_void_v<T>, std::monostate, T>,
                            std::exception_ptr>;

template <class T>
Task<> keep(Task<T> task, Ending<T>* ending, SystemLoop* to_stop) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(task);
      ending->template emplace<1>();
    } else {
      ending->template emplace<1>(co_await std::move(task));
    }
  } catch (...) {
    ending->template emplace<2>(std::current_exception());
  }
  if (to_stop) to_stop->stop();
}

template <class T>
T unwrap(Ending<T> ending) {
  if (ending.index() == 2) std::rethrow_exception(std::get<2>(ending));
  if constexpr (!std::is_void_v<T>) return std::get<1>(std::move(ending));
}

}  // namespace run_internal

template <class T>
T run(SimLoop& loop, Task<T> task) {
  run_internal::Ending<T> ending;
  TaskGroup group(loop);
  group.spawn(run_internal::keep<T>(std::move(task), &ending, nullptr));
  loop.run_until([&] { return group.size() == 0; });
  if (group.size() > 0) {
    std::fputs("run: the task waits, but nothing is ready and no timer is set: it can never end\n", stderr);
    std::abort();
  }
  return run_internal::unwrap<T>(std::move(ending));
}

template <class T>
T run(SystemLoop& loop, Task<T> task) {
  run_internal::Ending<T> ending;
  TaskGroup group(loop);
  group.spawn(run_internal::keep<T>(std::move(task), &ending, &loop));
  loop.run();
  while (group.size() > 0) {  // the task has ended, but its group may hear of it one turn later
    loop.post([&loop] { loop.stop(); });
    loop.run();
  }
  return run_internal::unwrap<T>(std::move(ending));
}

}  // namespace deputy
