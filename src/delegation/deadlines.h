// The clocks of the sessions that run. While one waits for a person, its own and those of all above it stand
// still; afterwards their deadlines are moved by as long as that took.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "async/loop.h"
#include "async/stop.h"
#include "transcript/session.h"

namespace deputy {

class Deadlines {
 public:
  explicit Deadlines(Loop& loop) : loop_(loop) {}

  // `stop` is stopped when the session's time is up; it lives until end(). Parents come before children.
  void start(const Session& session, StopSource& stop);
  // One that is ended by force may still ask: it holds nobody above it any longer.
  void end(const SessionId& id);

  struct Moved {
    RunId run;
    WallTime deadline;
  };
  void hold(const SessionId& id);
  // Those that go on now and had stood still for a while.
  std::vector<Moved> go_on(const SessionId& id);

 private:
  struct Clock {
    StopSource* stop = nullptr;
    std::optional<SessionId> parent;
    RunId run;
    std::optional<WallTime> deadline;
    TimePoint until{};
    int holds = 0;
    TimePoint held_since{};
  };
  Clock* find(const std::optional<SessionId>& id);

  Loop& loop_;
  std::map<SessionId, Clock> clocks_;
};

}  // namespace deputy
