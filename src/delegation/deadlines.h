// The clocks of the sessions that run. While one waits for a person, its own and those of all above it stand
// still; afterwards their deadlines are moved by as long as that took. One without a deadline is bound by
// what is heard of it: kLongestSilence.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/next.h"
#include "async/loop.h"
#include "async/stop.h"
#include "transcript/session.h"

namespace deputy {

// When the time of a tree is up under another limit: what has passed of the old one has passed of the new
// one. Nothing where there is none.
std::optional<WallTime> moved_deadline(const std::optional<WallTime>& deadline, Duration before,
                                       Duration time, WallTime left_at);

// The limit of a tree's time under which `more` is left of it from now on, whatever has passed of the old
// one.
Duration time_with_more(const std::optional<WallTime>& deadline, Duration before, Duration more,
                        WallTime left_at);

class Deadlines {
 public:
  // `stall` ends a session that nothing was heard of for too long.
  using Stall = std::function<void(const SessionId&)>;
  Deadlines(Loop& loop, Stall stall) : loop_(loop), stall_(std::move(stall)) {}
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;

  // `stop` is stopped when the session's time is up; it lives until end(). Parents come before children.
  void start(const Session& session, StopSource& stop);
  struct Moved {
    RunId run;
    WallTime deadline;
  };
  // One that is ended by force may still ask: it holds nobody above it any longer. Those that go on now and
  // had stood still for a while.
  std::vector<Moved> end(const SessionId& id);
  // When it is ended at the latest, if nothing more is heard of it. `planned` is the deadline of one that has
  // not begun.
  WallTime end_of(const SessionId& id, const std::optional<WallTime>& planned = std::nullopt) const;

  // The session has recorded something, or its model or a tool of its has said something.
  void heard(const SessionId& id);
  // It waits for somebody, who answers for that; until it works again.
  void rest(const SessionId& id);
  void work(const SessionId& id);

  void hold(const SessionId& id);
  // Those that go on now and had stood still for a while.
  std::vector<Moved> go_on(const SessionId& id);

 private:
  struct Clock {
    StopSource* stop = nullptr;
    SessionId parent;  // empty at the root
    RunId run;
    std::optional<WallTime> deadline;
    TimePoint until{};
    int holds = 0;
    TimePoint held_since{};
    TimePoint heard{};                  // the last time
    std::optional<TimerId> alarm = {};  // looks whether that is too long ago; only where there is no deadline
  };
  Clock* find(const SessionId& id);
  void listen(const SessionId& id, Clock& clock);
  void stop_listening(Clock& clock);

  Loop& loop_;
  Stall stall_;
  std::unordered_map<SessionId, Clock> clocks_;  // asked for with each piece of what a model says
};

}  // namespace deputy
