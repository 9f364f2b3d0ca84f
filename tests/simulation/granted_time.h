// That nobody's time is over before it is: what is granted to a run, and to a question, is measured here by
// the clock that does not jump. Nobody's time passes while no process runs the tree: another one goes on with
// what was left of it, but for what the wall clock has jumped by then, by which that is on record.
#pragma once

#include <map>
#include <set>
#include <string>

#include "figures.h"
#include "support/waits.h"
#include "transcript/event.h"

namespace deputy {

class GrantedTime {
 public:
  // Another process goes on, whose clock begins anew.
  void begin_life();
  // The wall clock was put forth, or back.
  void jumped(Duration by, TimePoint now);
  // Whose time was over too early; empty where nobody's was. `left` are not taken up yet: nobody waits there.
  std::string fault_after(const Event& event, TimePoint now, const Sessions& all,
                          const std::set<SessionId>& left);
  const Figures& figures() const { return figures_; }  // ends by time, and answers for want of it

 private:
  struct Grant {
    Duration time{};
    // In between a jump of the wall clock may take of it: when it was granted, or as long as another process
    // runs.
    TimePoint from{};
    TimePoint to{};
    Duration used{};
  };
  void pass(TimePoint now, const Sessions& all, const std::set<SessionId>& left);
  void take_grant(const Event& event, const Sessions& all);
  Duration left_of(const Grant& grant) const;
  Duration put_forth(TimePoint from, TimePoint to) const;
  bool is_over(const Grant& grant) const;
  bool may_be_over(const Session* session, const Sessions& all) const;
  std::string early(const SessionId& session, std::string_view what) const;

  std::map<SessionId, Grant> runs_;          // the last of each session
  std::map<std::string, Grant> questions_;   // that were asked in this life, by id
  std::map<TimePoint, Duration> put_forth_;  // the wall clock, in this life
  Duration set_back_{};                      // the wall clock, in all lives
  std::set<SessionId> still_;                // their time stands still
  TimePoint seen_at_{};
  Figures figures_;
};

}  // namespace deputy
