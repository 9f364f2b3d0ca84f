// What came to a recorded tree from outside while it ran, read off what it left: the person's words and
// cancels, a child sent to the background, a program that left or died, one that came back, and one that gave
// the tree up. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/replay_progress.h"
#include "transcript/event.h"

namespace deputy {

struct Outside {
  enum class Kind { cancel, nudge, send_to_background, leave, die };
  Kind kind = Kind::cancel;
  std::string place = {};                      // of the session that it is about
  std::string text = {};                       // of a nudge; of a cancel, the error that it left
  std::string id = {};                         // of a nudge
  std::map<std::string, Progress> after = {};  // by place: what had happened by then
  std::size_t event = 0;                       // before which it came
};

struct Word {
  std::string place;  // of the session that it is for
  std::string text;
};

// What goes on with the root after it was at rest: a further input, or that it is resumed, or given up.
struct Continuation {
  std::size_t event = 0;  // the first that it led to
  bool gives_up = false;
  std::vector<Word> words = {};  // that were left while no program ran the tree
  std::optional<std::string> input = {};
  ModelName model = {};
  RunTask task = RunTask::reply;
  std::optional<TreeLimits> limits = {};  // other ones than the tree was started with
};

// Both in order.
struct FromOutside {
  std::vector<Outside> happenings;
  std::vector<Continuation> continuations;
};

// The end of a run that nobody ran any more when its tree was given up.
bool is_given_up(const Fact& fact);

FromOutside outside_in(const std::vector<Event>& events);

}  // namespace deputy
