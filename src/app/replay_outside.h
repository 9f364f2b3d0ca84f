// What came to a recorded tree from outside while it ran, read off what it left: the person's words and
// cancels, a child sent to the background, a program that left and came back. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// How far a session has come: the events that are compared, and the requests that were made.
struct Progress {
  std::size_t events = 0;
  std::size_t requests = 0;
};

struct Outside {
  enum class Kind { cancel, nudge, send_to_background, leave };
  Kind kind = Kind::cancel;
  std::string place = {};  // of the session that it is about
  std::string text = {};
  WallTime at{};
  std::map<std::string, Progress> after = {};  // by place: what had happened by then
};

// What goes on with the root after it was at rest: a further input, or that it is resumed.
struct Continuation {
  std::size_t event = 0;  // the first that it led to
  WallTime at{};
  std::optional<std::string> input = {};
  ModelName model = {};
};

struct FromOutside {
  std::vector<Outside> happenings;
  std::vector<Continuation> continuations;  // in order
};

FromOutside outside_in(const std::vector<Event>& events);

}  // namespace deputy
