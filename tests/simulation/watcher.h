// What must hold of any tree, whatever happens to it. A Watcher looks after every event of every life, and
// once more when the tree has ended.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "support/priced_model.h"
#include "support/sim_world.h"
#include "support/stream_states.h"

namespace deputy {

class Watcher {
 public:
  Watcher(const SimWorld& world, const TreeLimits& limits, const Bank& bank)
      : world_(world), limits_(limits), bank_(bank) {}

  void look(const Event& event, const EventOrigin& origin, const Runtime& runtime);
  // `effects`: how often each command was run.
  void expect_over(const Runtime& runtime, const std::map<std::string, int>& effects) const;

 private:
  void look_at_requests() const;
  void look_at_run(const Event& event);
  void look_at_rights(const Session& session) const;
  void look_at_wait(const Session& session) const;
  void expect_nothing_lost() const;

  const SimWorld& world_;
  const TreeLimits& limits_;
  const Bank& bank_;
  std::set<RunId> ended_;
  std::set<std::tuple<RunId, int, int>> finished_calls_;
  std::set<std::pair<SessionId, std::string>> delivered_;
  std::set<std::string> answered_;
  StreamStates stream_;
};

}  // namespace deputy
