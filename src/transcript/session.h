// One conversation of one profile, a node of the tree, as the store shows it: a view of the journal, never a
// second truth.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "transcript/ids.h"
#include "transcript/limits.h"
#include "transcript/report.h"
#include "transcript/usage.h"
#include "transcript/workspace.h"

namespace deputy {

enum class SessionState {
  pending,
  running,
  waiting,
  interrupted,
  completed,
  partial,
  failed,
  blocked,
  cancelled
};

std::string_view name_of(SessionState state);
std::optional<SessionState> session_state_from(std::string_view name);
bool is_terminal(SessionState state);
SessionState state_after(Status status);

// What kind of work it is decides how long it may take, unless more is said.
enum class WorkKind { simple, research, planning, implementation };
std::string_view name_of(WorkKind kind);
std::optional<WorkKind> work_kind_from(std::string_view name);

// Whom a waiting session waits for, since when and for how long at most.
struct Wait {
  std::string owner;  // a session's id, kPerson or kPlace
  std::string why;    // for people
  WallTime since{};
  std::optional<WallTime> until = {};
  std::string question = {};  // its id, where the wait is for an answer
  bool operator==(const Wait&) const = default;
};
inline constexpr std::string_view kPerson = "person";
inline constexpr std::string_view kPlace = "place";  // in line for the right to run

struct Session {
  SessionId id;
  Uuid uuid;
  SessionId tree;  // the root session's id
  std::optional<SessionId> parent;
  std::optional<DelegationKey> delegation;  // the parent's call; absent at the root
  std::string label;
  std::string agent;  // the profile's name
  int depth = 0;
  std::vector<std::string> path;  // profile names from the root
  ModelName model;
  std::string workspace;  // absolute path
  WorkspaceMode workspace_mode = WorkspaceMode::read_only;
  bool network = false;              // of its commands
  std::optional<int> sandbox_level;  // that its commands had when it was made
  std::string permissions;           // the rules in force, as JSON
  int max_output_tokens = 4096;
  std::optional<int> max_turns;
  std::optional<WorkKind> kind;     // absent at the root: there is nothing to inherit
  std::optional<Duration> timeout;  // what it was given, for its children to inherit; absent: no limit
  std::optional<WallTime> deadline;
  std::optional<TreeLimits> limits;  // of the tree; at its root alone
  std::string prompt;

  SessionState state = SessionState::pending;
  int run = 1;
  WallTime created_at{};
  std::optional<WallTime> started_at;
  std::optional<WallTime> ended_at;
  std::optional<Wait> wait;  // while its state is waiting
  WallTime last_event_at{};
  std::string last_activity;
  int steps = 0;
  Usage usage;
  std::string result;  // the report's body
  std::string error;   // its reason and first error, where it did not complete
  Reason reason = Reason::none;
};

}  // namespace deputy
