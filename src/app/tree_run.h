// One tree from its start, or its resume, to its end, as a command runs it: progress, questions, signals and
// the event stream beside it. What it led to is computed from the journal, so that a resumed command ends as
// the original would have.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/engine.h"
#include "app/program.h"
#include "app/signals.h"

namespace deputy {

// A further input for the root of a tree that has ended.
struct FurtherInput {
  SessionId root;
  NextInput input;
};

struct TreeRequest {
  // A new one, the root of one to resume, or one that goes on.
  std::variant<RootBrief, SessionId, FurtherInput> what;
  Engine::Parts engine;
  std::optional<TreeLimits> terms = std::nullopt;  // of one to resume, where the person sets others
};

struct TreeEnd {
  Result<Report> report = std::unexpected(Error{});
  SessionId root;                  // empty where not even that was recorded
  std::vector<Session> sessions;   // of the whole tree
  std::vector<Event> root_events;  // of the root session
  std::vector<Report> children;    // what each child of a command has reported last
  // What needed approval here, with nobody there to give it: none of it was done.
  std::vector<Question> unapproved = {};
  std::string left_by = {};  // the signal by which it was left as it is
};

TreeEnd run_tree(Program& program, Signals& signals, TreeRequest request);

}  // namespace deputy
