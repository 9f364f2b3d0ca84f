// What must hold of any tree, whatever happens to it. A Watcher looks after every event of every life, when
// nothing moves any more, and once more when the tree has ended.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "debts.h"
#include "figures.h"
#include "granted_time.h"
#include "support/priced_model.h"
#include "support/sim_world.h"
#include "support/stream_states.h"

namespace deputy {

class Watcher {
 public:
  Watcher(const SimWorld& world, const TreeLimits& limits, const Bank& bank)
      : world_(world), limits_(limits), bank_(bank) {}

  // Another process goes on with the tree.
  void begin_life();
  void look(const Event& event, const EventOrigin& origin, Life& life);
  // At a moment at which nothing moves. Whether to look again soon though nothing happens: a wait of which
  // nothing will come is one only if a stop that takes its time does not end it.
  bool look_at_waits(Life& life);
  // The wall clock was put forth, or back. What is left of a tree's time is on record by it.
  void jumped(Duration by, TimePoint now);
  void expect_over(const Runtime& runtime) const;
  Figures figures() const;

 private:
  void look_at_spending();
  void look_at_requests() const;
  void look_at_run(const Event& event);
  void look_at_rights(const Session& session) const;
  void look_at_wait(const Session& session) const;
  void look_at_time(const Event& event, TimePoint now);

  const SimWorld& world_;
  const TreeLimits& limits_;
  const Bank& bank_;
  std::set<RunId> ended_;
  std::set<std::tuple<RunId, int, int>> finished_calls_;
  std::set<RunId> worked_;  // of children
  Debts debts_;
  GrantedTime granted_;
  std::set<std::string> answered_;
  StreamStates stream_;
  std::set<SessionId> left_;  // by the life before, and not taken up again
  struct Suspect {
    std::string fault;
    TimePoint since;
  };
  std::map<SessionId, Suspect> suspects_;
  std::size_t counted_ = 0;  // events of the journal, when its sum was last looked at
  std::uint64_t waits_seen_ = 0;
  Duration used_{};  // of the tree's time, by the clock of the loop
  Duration gained_{};
  TimePoint seen_at_{};
  bool stands_still_ = false;  // since then: a person is waited for
};

}  // namespace deputy
