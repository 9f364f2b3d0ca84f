// That nobody's time is over before it is: what is granted to a run, and to a question, is measured here by
// the clock that does not jump. Of a run that another process goes on with it is not known: what is left of
// its time is on record by the wall clock.
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
    Duration used{};
    TimePoint at{};  // when it was granted
  };
  void pass(TimePoint now, const Sessions& all, const std::set<SessionId>& left);
  void take_grant(const Event& event, const Sessions& all);
  bool is_over(const Grant& grant) const;
  bool may_be_over(const Session* session, const Sessions& all) const;
  std::string early(const SessionId& session, std::string_view what) const;

  std::map<SessionId, Grant> runs_;          // that were begun in this life
  std::map<std::string, Grant> questions_;   // that were asked in this life, by id
  std::map<TimePoint, Duration> put_forth_;  // the wall clock, in this life
  std::set<SessionId> still_;                // their time stands still
  TimePoint seen_at_{};
  Figures figures_;
};

}  // namespace deputy
