// Whether the events of a bundle are those of one tree, as a deputy records it: a stranger has made it, and
// its names stand in for one another all over a replay. Limits far beyond what trees come to keep it from
// taking all that a machine has.
#pragma once

#include <map>

#include "base/result.h"
#include "transcript/event.h"

namespace deputy {

inline constexpr int kMostBundledDepth = 64;  // the root is 0
inline constexpr std::size_t kMostBundledSessions = 20'000;
inline constexpr int kMostTakenUp = 1'000;  // times, by a further program

class BundleOrder {
 public:
  // One after the other. Error::exhausted past a limit, else Error::corrupt; both say of the event only why.
  Result<void> take(const Event& event);
  const SessionId& tree() const { return tree_; }

 private:
  Result<void> take_session(const Event& event, const Session& session);
  Result<void> take_taken_up();

  std::uint64_t last_ = 0;
  SessionId tree_;
  std::map<SessionId, int> depths_;  // of the sessions so far
  int taken_up_ = 0;
};

}  // namespace deputy
