#include "tools/background_commands.h"

#include <fmt/format.h>

#include "async/waiter.h"
#include "base/text.h"
#include "tools/command_outcome.h"

namespace deputy {

BackgroundCommands::Job* BackgroundCommands::job_of(const SessionId& owner, const std::string& id) const {
  const auto found = jobs_.find({owner, id});
  return found == jobs_.end() ? nullptr : found->second.get();
}

Result<void> BackgroundCommands::start(const SessionId& owner, const std::string& id, std::string command,
                                       ProcessSpec spec, std::shared_ptr<const Folder> folder,
                                       Processes& processes, const StopToken& stop, Afterwards afterwards,
                                       OnExit on_exit) {
  std::size_t running = 0;
  for (const auto& [key, job] : jobs_) running += key.first == owner && !job->ended ? 1 : 0;
  if (running >= kMostPerSession)
    return fail(ErrorCode::exhausted, fmt::format("{} commands run in the background already", running),
                "end one with task_cancel");
  auto job = std::make_shared<Job>(
      Job{.command = std::move(command), .started = loop_.clock().now(), .stop = StopSource(stop)});
  spec.on_output = [weak = std::weak_ptr(job), also = std::move(spec.on_output)](std::string_view piece) {
    if (also) also(piece);
    if (const auto alive = weak.lock()) append_tail(alive->tail, piece, kTailBytes);
  };
  jobs_.insert_or_assign({owner, id}, job);
  group_.spawn(run(std::move(job), std::move(spec), std::move(folder), processes, std::move(afterwards),
                   std::move(on_exit)));
  return {};
}

Task<> BackgroundCommands::run(std::shared_ptr<Job> job, ProcessSpec spec,
                               [[maybe_unused]] std::shared_ptr<const Folder> folder, Processes& processes,
                               Afterwards afterwards, OnExit on_exit) {
  auto outcome = co_await processes.run(std::move(spec), job->stop.token());
  if (on_exit && outcome && !outcome->timed_out) on_exit(outcome->exit_status);
  if (afterwards) job->aftermath = co_await afterwards();
  job->outcome = std::move(outcome);
  job->ended = loop_.clock().now();
  job->done.request(StopReason::user);
}

bool BackgroundCommands::is_running(const SessionId& owner, const std::string& id) const {
  const Job* job = job_of(owner, id);
  return job && !job->ended;
}

Task<std::string> BackgroundCommands::told(SessionId owner, std::string id, std::size_t most) {
  co_return bounded(standing_of(owner, id), most).text;
}

std::string BackgroundCommands::standing_of(const SessionId& owner, const std::string& id) const {
  const Job* job = job_of(owner, id);
  if (!job) return {};
  const Duration took = job->ended.value_or(loop_.clock().now()) - job->started;
  const std::string what = shorten(on_one_line(job->command), 120);
  const std::string tail = to_utf8(utf8_suffix(job->tail, kTailBytes));
  if (!job->outcome) return fmt::format("{} runs since {}: {}\n{}", id, to_text(took), what, tail);
  if (const auto& outcome = *job->outcome; outcome)
    return fmt::format("{} ended after {}: {}\n{}{}", id, to_text(took), what, told_of(*outcome),
                       job->aftermath);
  if (job->outcome->error().code == ErrorCode::cancelled)
    return fmt::format("{} was ended after {}: {}\n{}{}", id, to_text(took), what, tail, job->aftermath);
  return fmt::format("{} could not be run: {}", id, to_text(job->outcome->error()));
}

std::vector<std::string> BackgroundCommands::ids_of(const SessionId& owner) const {
  std::vector<std::string> ids;
  for (const auto& [key, job] : jobs_) {
    if (key.first == owner) ids.push_back(key.second);
  }
  return ids;
}

Task<> BackgroundCommands::wait(SessionId owner, std::string id, std::optional<TimePoint> until,
                                StopToken stop) {
  const auto found = jobs_.find({owner, id});
  if (found == jobs_.end()) co_return;
  const auto job = found->second;
  StopSource timed(stop);
  timed.set_deadline(loop_.timers(), until);
  const Waiter<bool> waiter;
  const auto on_done = job->done.token().on_stop([waiter] { waiter.resume(true); });
  const auto on_stop = timed.token().on_stop([waiter] { waiter.resume(false); });
  co_await waiter.wait();
}

void BackgroundCommands::cancel(const SessionId& owner, const std::string& id) {
  if (Job* job = job_of(owner, id)) job->stop.request(StopReason::parent);
}

Task<Result<void>> BackgroundCommands::message(SessionId, std::string id, std::string, CallId) {
  co_return fail(ErrorCode::invalid, id + " is a command: it reads no messages",
                 "end it with task_cancel and start another");
}

void BackgroundCommands::cancel_all_of(const SessionId& owner) {
  for (const auto& id : ids_of(owner)) cancel(owner, id);
}

Task<> BackgroundCommands::end_all_of(SessionId owner) {
  cancel_all_of(owner);
  for (const auto& id : ids_of(owner)) {
    co_await wait(owner, id, {}, {});
    jobs_.erase({owner, id});
  }
}

Task<> BackgroundCommands::end_all() {
  for (const auto& [key, job] : jobs_) job->stop.request(StopReason::shutdown);
  return group_.join();
}

}  // namespace deputy
