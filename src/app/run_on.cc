#include "app/run_on.h"

#include "async/task_group.h"

namespace deputy {
namespace {

Task<> then_stop(SystemLoop& loop, Task<> task) {
  co_await std::move(task);
  loop.stop();
}

}  // namespace

void run_on(SystemLoop& loop, Task<> task) {
  TaskGroup group(loop);
  group.spawn(then_stop(loop, std::move(task)));
  loop.run();
  while (group.size() > 0) {  // the task has ended, but its group may hear of it one turn later
    loop.post([&loop] { loop.stop(); });
    loop.run();
  }
}

}  // namespace deputy
