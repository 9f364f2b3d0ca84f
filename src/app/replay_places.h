// Where the sessions of a tree stand: the chain of calls that made each of them, the same in every run of the
// tree.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "transcript/event.h"

namespace deputy {

class Places {
 public:
  Places() = default;
  explicit Places(const std::vector<Event>& events);
  // Where it creates a session.
  void take(const Event& event);

  // "root", "root/1.0.2.0": of the root's first run, step 0, call 2, task 0. Far down a sum stands for what
  // is above, so that none is long. Of a session that there is none of, the root's.
  const std::string& of(const SessionId& session) const;
  // Which session stands there; null where none does.
  const SessionId* at(const std::string& place) const;
  const std::map<SessionId, std::string>& all() const { return places_; }

 private:
  std::map<SessionId, std::string> places_;
  std::map<std::string, SessionId> sessions_;
};

}  // namespace deputy
