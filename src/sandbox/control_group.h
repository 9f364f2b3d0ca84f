// A cgroup of its own for one process tree, with limits, where this user may make one: version 2, or the
// memory and pids hierarchies of version 1. Ends with its owner, who must outlive the processes in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/owned_fd.h"
#include "sandbox/processes.h"

namespace deputy {

// Where this process stands: the folders of its groups in the file system, as far as there are any.
struct GroupPlaces {
  std::optional<std::string> unified;  // version 2
  std::string unified_top;             // where that hierarchy is mounted
  std::optional<std::string> memory;   // version 1
  std::optional<std::string> pids;
};
GroupPlaces find_group_places(std::string_view own_groups,  // /proc/self/cgroup
                              std::string_view mounts);     // /proc/self/mountinfo

class ControlGroup {
 public:
  // Error::unavailable, with the reason, where it cannot be had.
  static Result<ControlGroup> make(const ProcessLimits& limits);
  ControlGroup(ControlGroup&&) = default;
  ControlGroup& operator=(ControlGroup&&) = delete;
  ~ControlGroup();

  // The cgroup.procs files: who writes 0 to each of them is in.
  const std::vector<OwnedFd>& entrances() const { return entrances_; }
  // Kills all that is in it; does nothing for version 1.
  void kill() const;

 private:
  ControlGroup() = default;
  Result<void> add(const std::string& parent, const std::string& name);

  std::vector<std::string> folders_;
  std::vector<OwnedFd> entrances_;
};

}  // namespace deputy
