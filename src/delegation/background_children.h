// Children that go on beside their parent, as task_status, task_cancel and task_message see them. What is
// known of one that has ended is read from the journal, any number of times.
#pragma once

#include <string>
#include <vector>

#include "tools/background_work.h"

namespace deputy {

class Tree;

class BackgroundChildren final : public BackgroundWork {
 public:
  explicit BackgroundChildren(Tree& tree) : tree_(tree) {}

  std::vector<std::string> ids_of(const SessionId& owner) const override;
  bool is_running(const SessionId& owner, const std::string& id) const override;
  Task<std::string> told(SessionId owner, std::string id, std::size_t most) override;
  // Also until it asks something. Whoever waits so holds no place, as in every wait for a child.
  Task<> wait(SessionId owner, std::string id, std::optional<TimePoint> until, StopToken stop) override;
  void cancel(const SessionId& owner, const std::string& id) override;
  Task<Result<void>> message(SessionId owner, std::string id, std::string text, CallId call) override;

 private:
  Tree& tree_;
};

}  // namespace deputy
