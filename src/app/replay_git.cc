#include "app/replay_git.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/replay_files.h"

namespace deputy {
namespace {

constexpr std::string_view kCommit = "c0ffee";

// The folder of a session ends with its id.
SessionId session_in(std::string_view worktree) {
  const std::size_t id = worktree.rfind("sess_");
  return SessionId(std::string(id == worktree.npos ? "" : worktree.substr(id)));
}

}  // namespace

ReplayedGit::ReplayedGit(const std::vector<Event>& then, const Disk& disk, const Places& places,
                         const MemoryStore::Memory& memory)
    : disk_(disk), places_(places), memory_(memory) {
  const Places places_then(then);
  for (const Event& event : then) {
    if (const auto* ended = std::get_if<RunEnded>(&event.fact))
      reports_[{places_then.of(event.run.session), event.run.number}] = &*ended->report;
  }
}

ProcessResult ReplayedGit::run(const ProcessSpec& spec) const {
  const auto has = [&spec](std::string_view word) {
    return std::ranges::find(spec.argv, word) != spec.argv.end();
  };
  const std::string& worktree = spec.folder->path();
  const Report* report = report_of(worktree);
  if (has("worktree")) {
    const auto path = std::ranges::find_if(spec.argv, [](const auto& word) { return word.starts_with('/'); });
    if (path != spec.argv.end() && has("add")) make_worktree(*path);
    if (path != spec.argv.end() && has("remove")) remove_worktree(*path);
  } else if (has("rev-parse")) {
    return {.output = std::string(kCommit)};
  } else if (has("symbolic-ref")) {
    return {.output = fmt::format("deputy/{}", session_in(worktree).value)};
  } else if (has("diff") && !has("--cached")) {
    return {.output = report ? report->workspace.diff : ""};
  } else if (has("status")) {
    return {.output = report && !report->workspace.path.empty() ? "?? left" : ""};
  }
  return {};
}

const Report* ReplayedGit::report_of(const std::string& worktree) const {
  const auto session = memory_.sessions.find(session_in(worktree));
  if (session == memory_.sessions.end()) return nullptr;
  const auto report = reports_.find({places_.of(session->first), session->second.run});
  return report == reports_.end() ? nullptr : report->second;
}

void ReplayedGit::make_worktree(const std::string& path) const {
  const auto folder = disk_.open(path, IfAbsent::create);
  const Report* report = report_of(path);
  if (!folder || !report) return;
  for (const Artifact& artifact : report->artifacts) put_file(**folder, artifact.path, "");
}

void ReplayedGit::remove_worktree(const std::string& path) const {
  const std::size_t name = path.rfind('/') + 1;
  const auto above = disk_.open(path.substr(0, name), IfAbsent::fail);
  if (above) (void)(*above)->remove(path.substr(name));
}

}  // namespace deputy
