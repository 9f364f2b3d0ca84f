// How far the sessions of a recorded tree had come at each of its events. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// How far a session has come: the events that are steps (replay_course.h), the requests, and what was
// reserved for them, which is on record beside the steps.
struct Progress {
  std::size_t events = 0;
  std::size_t requests = 0;
  std::size_t reserved = 0;
};

const Nudged* word_of_person(const Fact& fact);
bool ends_request(const Fact& fact);

// The events outlive it.
class SessionProgress {
 public:
  explicit SessionProgress(const std::vector<Event>& events);

  // The events of a session, by their indices.
  const std::vector<std::size_t>& events_of(const SessionId& session) const {
    return by_session_.at(session);
  }
  // The last of them before this event; nothing where there is none.
  std::optional<std::size_t> last_before(const SessionId& session, std::size_t event) const;
  // How far it had come then; `asks`: with a request under way.
  Progress of(const SessionId& session, std::size_t before, bool asks = false) const;
  // How many steps it had made then but for words of the person's.
  std::size_t own_steps(const SessionId& session, std::size_t before) const;
  // Whether the session of this event had a request under way then: its reply comes before anything else that
  // is told.
  bool is_asking(std::size_t event) const { return asks_[event]; }

 private:
  void read(const std::vector<std::size_t>& of_session);

  const std::vector<Event>& events_;
  std::map<SessionId, std::vector<std::size_t>> by_session_;
  std::vector<Progress> progress_;      // of its session after each event
  std::vector<std::size_t> own_steps_;  // the same
  std::vector<bool> asks_;
};

}  // namespace deputy
