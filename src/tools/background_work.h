// What a session has running beside it, by id. task_status and task_cancel know it through this: commands of
// Bash (background_commands.h), and children once they can be sent there.
#pragma once

#include <string>
#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "transcript/ids.h"

namespace deputy {

class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;
  virtual std::vector<std::string> ids_of(const SessionId& owner) const = 0;
  virtual bool is_running(const SessionId& owner, const std::string& id) const = 0;
  // How it stands, for the model. Only for an id of ids_of().
  virtual std::string told(const SessionId& owner, const std::string& id) const = 0;
  // Until it has ended, or the stop.
  virtual Task<> wait(SessionId owner, std::string id, StopToken stop) = 0;
  virtual void cancel(const SessionId& owner, const std::string& id) = 0;
};

}  // namespace deputy
