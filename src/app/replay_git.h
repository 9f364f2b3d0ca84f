// git in a replay: of a session's worktree it says what shows in the session's reports of then.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/replay_places.h"
#include "base/disk.h"
#include "sandbox/processes.h"
#include "store/memory_store.h"
#include "transcript/event.h"

namespace deputy {

class ReplayedGit {
 public:
  // All of it outlives the git; `places` and `memory` are what the tree is now.
  ReplayedGit(const std::vector<Event>& then, const Disk& disk, const Places& places,
              const MemoryStore::Memory& memory);
  ProcessResult run(const ProcessSpec& spec) const;

 private:
  // Of the session that works there.
  const Report* report_of(const std::string& worktree) const;
  void make_worktree(const std::string& path) const;
  void remove_worktree(const std::string& path) const;

  std::map<std::pair<std::string, int>, const Report*> reports_;  // by place and run
  const Disk& disk_;
  const Places& places_;
  const MemoryStore::Memory& memory_;
};

}  // namespace deputy
