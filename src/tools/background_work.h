// What a session has running beside it, by id. task_status, task_cancel and task_message know it through
// this: commands of Bash (background_commands.h), and children (delegation/background_children.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "base/result.h"
#include "transcript/ids.h"

namespace deputy {

// How much is told of it: of one, and of all together.
struct BackgroundBounds {
  std::size_t one = 32 * 1024;
  std::size_t all = 32 * 1024;
};

class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;
  virtual std::vector<std::string> ids_of(const SessionId& owner) const = 0;
  virtual bool is_running(const SessionId& owner, const std::string& id) const = 0;
  // How it stands, for the model, in about `most` bytes. Only for an id of ids_of().
  virtual Task<std::string> told(SessionId owner, std::string id, std::size_t most) = 0;
  // Until it has ended, `until` has come, or the stop.
  virtual Task<> wait(SessionId owner, std::string id, std::optional<TimePoint> until, StopToken stop) = 0;
  virtual void cancel(const SessionId& owner, const std::string& id) = 0;
  // Durable when it returns; the same `call` says it once. The error is for the model.
  virtual Task<Result<void>> message(SessionId owner, std::string id, std::string text, CallId call) = 0;
};

}  // namespace deputy
