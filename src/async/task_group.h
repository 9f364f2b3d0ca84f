// The owner of tasks that run beside it. Every task belongs to a group, and every group is waited for: its
// owner ends with co_await group.stop(…) or join(), and a group that dies with tasks in it is a bug. Make it
// the last member, so that its tasks may use every member declared before it.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"

namespace deputy {

class TaskGroup {
 public:
  explicit TaskGroup(Loop& loop, const StopToken& parent = {});
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;

  // What its tasks should watch.
  StopToken token() const { return stop_.token(); }
  // Starts the task soon. An exception that it lets out is a bug: join() throws the first one on.
  void spawn(Task<> task);
  std::size_t size() const;

  // Asks its tasks to stop; the first reason stays.
  void request_stop(StopReason reason) { stop_.request(reason); }
  Task<> join();
  Task<> stop(StopReason reason);

 private:
  struct State;
  Loop& loop_;
  StopSource stop_;
  std::shared_ptr<State> state_;
};

}  // namespace deputy
