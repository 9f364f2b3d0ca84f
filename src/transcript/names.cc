#include "transcript/names.h"

#include <algorithm>

namespace deputy {

std::string_view name_of(Role role) { return name_in(kRoles, role); }
std::string_view name_of(Source source) { return name_in(kSources, source); }
std::string_view name_of(ReplyStop stop) { return name_in(kReplyStops, stop); }
std::string_view name_of(Status status) { return name_in(kStatuses, status); }
std::string_view name_of(Reason reason) { return name_in(kReasons, reason); }
std::string_view name_of(SessionState state) { return name_in(kSessionStates, state); }
std::string_view name_of(WorkspaceMode mode) { return name_in(kWorkspaceModes, mode); }
std::string_view name_of(WorkKind kind) { return name_in(kWorkKinds, kind); }
std::string_view name_of(QuestionKind kind) { return name_in(kQuestionKinds, kind); }
std::string_view name_of(AnswerKind kind) { return name_in(kAnswerKinds, kind); }

std::optional<SessionState> session_state_from(std::string_view name) {
  return value_in(kSessionStates, name);
}

std::optional<WorkKind> work_kind_from(std::string_view name) { return value_in(kWorkKinds, name); }

std::string to_words(Reason reason) {
  std::string words(name_of(reason));
  std::ranges::replace(words, '_', ' ');
  return words;
}

bool is_terminal(SessionState state) { return state >= SessionState::completed; }

SessionState state_after(Status status) {
  switch (status) {
    case Status::completed:
      return SessionState::completed;
    case Status::partial:
      return SessionState::partial;
    case Status::failed:
      return SessionState::failed;
    case Status::blocked:
      return SessionState::blocked;
    case Status::cancelled:
      return SessionState::cancelled;
  }
  return SessionState::failed;
}

}  // namespace deputy
