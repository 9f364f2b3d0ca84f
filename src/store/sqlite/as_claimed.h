// What a claim has read and found whole of the sessions that have not ended: who goes on with them need not
// read it again. Of a session that something was recorded of since, it knows nothing any more. For the loop
// alone.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

// A session and all its events.
struct Claimed {
  Session session;
  std::vector<Event> events;
};

class AsClaimed {
 public:
  void keep(std::shared_ptr<const Claimed> claimed);
  void forget(const SessionId& session);
  void forget_tree(const SessionId& tree);

  // Nothing where it is to be read.
  const Session* session(const SessionId& id) const;
  const Session* child_of(const DelegationKey& key) const;
  const std::vector<Event>* events_of(const SessionId& session) const;

 private:
  std::map<SessionId, std::shared_ptr<const Claimed>> kept_;
  std::map<DelegationKey, SessionId> children_;
};

}  // namespace deputy
