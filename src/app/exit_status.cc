#include "app/exit_status.h"

namespace deputy {

ExitStatus exit_status_of(Status root) {
  switch (root) {
    case Status::completed:
      return ExitStatus::completed;
    case Status::partial:
      return ExitStatus::partial;
    case Status::blocked:
      return ExitStatus::blocked;
    case Status::cancelled:
      return ExitStatus::cancelled;
    case Status::failed:
      break;
  }
  return ExitStatus::failed;
}

ExitStatus exit_status_of(const BatchCount& batch) {
  if (batch.total > 0 && batch.ok == batch.total) return ExitStatus::completed;
  return batch.ok + batch.partial == 0 ? ExitStatus::failed : ExitStatus::partial;
}

std::string_view word_for(ExitStatus status) {
  switch (status) {
    case ExitStatus::completed:
      return "completed";
    case ExitStatus::failed:
      return "failed";
    case ExitStatus::usage:
      return "usage";
    case ExitStatus::partial:
      return "partial";
    case ExitStatus::blocked:
      return "blocked";
    case ExitStatus::refused:
      return "refused";
    case ExitStatus::cancelled:
      return "cancelled";
  }
  return "failed";
}

}  // namespace deputy
