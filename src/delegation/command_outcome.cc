#include "delegation/command_outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace deputy {

namespace {

std::size_t tasks_of(const Session& command) {
  const auto input = parse_json_object(command.prompt);
  const auto* arguments = input ? object_at(*input, "arguments") : nullptr;
  const auto* tasks = arguments ? array_at(*arguments, "tasks") : nullptr;
  return tasks ? tasks->size() : 1;
}

}  // namespace

Report judged_by_children(Report report, const Session& command, const std::vector<Session>& children) {
  if (report.status != Status::completed) return report;
  const auto count = [&](auto state) {
    return static_cast<std::size_t>(std::ranges::count(children, state, &Session::state));
  };
  const std::size_t total = std::max(tasks_of(command), children.size());
  const std::size_t ok = count(SessionState::completed);
  if (ok == total) return report;
  const std::size_t half = count(SessionState::partial) + count(SessionState::blocked);
  report.status = ok + half > 0                             ? Status::partial
                  : count(SessionState::cancelled) == total ? Status::cancelled
                                                            : Status::failed;
  report.reason = Reason::denied;  // of those that never came to be, and why is in their reports
  for (const auto& child : children) {
    if (child.state != SessionState::completed) report.reason = child.reason;
  }
  report.errors.push_back({.type = std::string(name_of(report.reason)),
                           .code = "CHILDREN",
                           .message = fmt::format("{} of {} did not complete", total - ok, total),
                           .recoverable = true,
                           .recommendation = "see what each reports, then run it again for those"});
  return report;
}

}  // namespace deputy
