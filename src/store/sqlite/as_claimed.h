// What a claim has read and found whole of the sessions that have not ended: who goes on with them need not
// read it again. Of a session that something was recorded of since, it knows nothing any more. For the loop
// alone.
#pragma once

#include <map>
#include <vector>

#include "store/journal.h"
#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

class AsClaimed {
 public:
  void keep(const Session& session, const EventRefs& events);
  void forget(const SessionId& session);
  void forget_tree(const SessionId& tree);

  // Nothing where it is to be read.
  const Session* session(const SessionId& id) const;
  const Session* child_of(const DelegationKey& key) const;
  const std::vector<Event>* events_of(const SessionId& session) const;

 private:
  struct Kept {
    Session session;
    std::vector<Event> events;
  };
  std::map<SessionId, Kept> kept_;
  std::map<DelegationKey, SessionId> children_;
};

}  // namespace deputy
