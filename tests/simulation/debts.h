// What a parent's model, or a session's own, is owed: the report of a child that went on beside it, and every
// word that was taken in. It is put before the model, which is asked again: so by the second reply after it
// was owed it must have been told. A last step at a limit does not count: where it is told nothing but to
// report, the rest is owed to its next run. Nor does a reply that pauses: nothing may be said before it is
// gone on with.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "transcript/event.h"

namespace deputy {

class Debts {
 public:
  // What the event shows to be lost, or delivered twice; empty where nothing is.
  std::string fault_after(const Event& event);

 private:
  struct Owed {
    SessionId parent;
    bool has_ended = false;
    int replies_since = 0;
  };
  using Item = std::pair<SessionId, std::string>;
  std::string lost_after_reply(const SessionId& session);

  std::map<RunId, Owed> owed_;  // by the child's run
  std::map<Item, int> words_;   // taken in for a session: its replies since
  std::set<RunId> at_limit_;
  std::set<Item> delivered_;
};

}  // namespace deputy
