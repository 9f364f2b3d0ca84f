// What the requests of a recorded tree came to, and the script in which the scripted model says their replies
// again. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transcript/event.h"

namespace deputy {

struct RecordedRequest {
  std::vector<std::pair<std::size_t, Retried>> retries;  // and which event tells each
  std::optional<Reply> reply;                            // nothing: it was stopped before that
  RequestStopped stopped = {};
  bool is_deaf = false;                 // it went on when it was stopped: its run was ended without it
  std::optional<std::string> bug = {};  // that ended it, and its run
  std::size_t event = 0;                // that tells its end
};

// By the session's place, in order. What the budget refused was no request; one that its process took with it
// left no end, and is the one that was made again.
using RecordedRequests = std::map<std::string, std::vector<RecordedRequest>>;
RecordedRequests requests_in(const std::vector<Event>& events);

// One session a place, labelled by it, with one reply a request; that of a stopped one is empty.
std::string script_of(const RecordedRequests& requests);

}  // namespace deputy
