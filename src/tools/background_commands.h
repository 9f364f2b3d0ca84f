// Commands that run in the background: started by Bash, seen and ended by id, never outliving the session
// that started them. Their output is kept as far as its tail.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "async/task_group.h"
#include "sandbox/processes.h"
#include "tools/background_work.h"
#include "transcript/ids.h"

namespace deputy {

class BackgroundCommands final : public BackgroundWork {
 public:
  static constexpr std::size_t kMostPerSession = 16;
  static constexpr std::size_t kTailBytes = 16 * 1024;

  explicit BackgroundCommands(Loop& loop) : loop_(loop), group_(loop) {}

  // Error::exhausted where the session has as many as it may. It is told to end with `stop`, the session's
  // own: at once, whatever else the session's end has to wait for.
  // `spec.on_output` hears what is printed, too. `folder` is kept as long as it runs; it may be null.
  // `afterwards`, if there is one, is done when the command has ended, and what it says is told with the
  // rest.
  using Afterwards = std::function<Task<std::string>()>;
  // Told of the end of one that came to it by itself.
  using OnExit = std::function<void(int status)>;
  Result<void> start(const SessionId& owner, const std::string& id, std::string command, ProcessSpec spec,
                     std::shared_ptr<const Folder> folder, Processes& processes, const StopToken& stop,
                     Afterwards afterwards = {}, OnExit on_exit = {});
  std::vector<std::string> ids_of(const SessionId& owner) const override;
  bool is_running(const SessionId& owner, const std::string& id) const override;
  Task<std::string> told(SessionId owner, std::string id, std::size_t most) override;
  Task<> wait(SessionId owner, std::string id, std::optional<TimePoint> until, StopToken stop) override;
  void cancel(const SessionId& owner, const std::string& id) override;
  Task<Result<void>> message(SessionId owner, std::string id, std::string text, CallId call) override;
  void cancel_all_of(const SessionId& owner);
  // Ends all that the session has started, and forgets them.
  Task<> end_all_of(SessionId owner);
  Task<> end_all();

 private:
  using Key = std::pair<SessionId, std::string>;
  struct Job {
    std::string command;  // as it was given
    TimePoint started{};
    std::optional<TimePoint> ended = std::nullopt;
    std::optional<Result<ProcessResult>> outcome = std::nullopt;
    std::string tail = {};       // of what it has printed
    std::string aftermath = {};  // what came of `afterwards`
    StopSource stop;
    StopSource done = {};  // stopped when the command has ended: what waiters wait for
  };
  Task<> run(std::shared_ptr<Job> job, ProcessSpec spec, std::shared_ptr<const Folder> folder,
             Processes& processes, Afterwards afterwards, OnExit on_exit);
  std::string standing_of(const SessionId& owner, const std::string& id) const;
  Job* job_of(const SessionId& owner, const std::string& id) const;

  Loop& loop_;
  std::map<Key, std::shared_ptr<Job>> jobs_;
  TaskGroup group_;
};

}  // namespace deputy
