#include "app/replay_beyond.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "app/replay_models.h"

namespace deputy {
namespace {

// With what may come of a limit: a last step, and an end by force.
constexpr WallTime::duration kLongAfter = std::chrono::minutes(5);

class Reader {
 public:
  explicit Reader(const Bundle& bundle)
      : bundle_(bundle), profiles_(agents_in(bundle)), known_(models_in(bundle)) {}

  std::vector<BeyondReplay> read() {
    for (std::size_t at = 0; at < bundle_.events.size(); ++at) {
      const Event& event = bundle_.events[at];
      if (at > 0 && event.at < bundle_.events[at - 1].at)
        add("its machine's clock was set back, and by how much is not on record", at);
      read_clock(event);
      read_work(event, at);
      read_clock_moved(event, at);
    }
    return std::move(found_);
  }

 private:
  void add(std::string why, std::size_t from) { found_.push_back({std::move(why), from}); }

  // A session that goes on long after its time was up: then less time had passed than the clock says.
  void read_clock(const Event& event) {
    if (const auto* input = std::get_if<InputGiven>(&event.fact); input && input->about != Reason::none)
      times_.erase(event.run.session);
    if (std::holds_alternative<TakenUp>(event.fact)) times_.clear();
    if (std::holds_alternative<QuestionAsked>(event.fact) || std::holds_alternative<StateChanged>(event.fact))
      times_.erase(event.run.session);  // it may stand still
    if (std::holds_alternative<RunEnded>(event.fact)) return;
    const auto time = times_.find(event.run.session);
    if (time == times_.end() || event.at <= time->second.first + kLongAfter) return;
    add("its machine's clock was set forward, and by how much is not on record", time->second.second);
    times_.erase(time);
  }
  void read_clock_moved(const Event& event, std::size_t at) {
    std::optional<WallTime> deadline;
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) deadline = created->session->deadline;
    if (const auto* started = std::get_if<RunStarted>(&event.fact)) deadline = started->deadline;
    if (const auto* moved = std::get_if<DeadlineMoved>(&event.fact)) deadline = moved->deadline;
    if (deadline) times_[event.run.session] = {*deadline, at};
  }

  void read_work(const Event& event, std::size_t at) {
    const SessionId& id = event.run.session;
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
      const Session& session = created->session;
      models_[id] = session.model;
      if (!profiles_.find(session.agent))
        add(fmt::format("the agent {} is not built in, and not in the bundle", session.agent), at);
      if (session.workspace_mode == WorkspaceMode::worktree)
        add("not all that git said of a worktree is in the bundle", at);
    }
    if (const auto* started = std::get_if<RunStarted>(&event.fact)) {
      if (!started->model.empty()) models_[id] = started->model;
      if (started->task == RunTask::compact) wished_.insert(event.run);
    }
    if (const auto* word = std::get_if<Nudged>(&event.fact); word && word->source == Source::runtime)
      add("its program ended in the middle, and commands were lost", at);
    if (std::holds_alternative<Compacted>(event.fact) && !wished_.contains(event.run) && !is_window_known(id))
      add("a conversation was compacted, and when depends on what is not in the bundle", at);
  }
  bool is_window_known(const SessionId& session) {
    const auto model = known_.find(models_[session].value);
    return model != known_.end() && model->second.window;
  }

  const Bundle& bundle_;
  const Profiles profiles_;
  const KnownModels known_;
  std::vector<BeyondReplay> found_;
  std::map<SessionId, ModelName> models_;
  std::set<RunId> wished_;                                       // runs that the person asked to compact
  std::map<SessionId, std::pair<WallTime, std::size_t>> times_;  // that are up then, and where that was said
};

}  // namespace

std::vector<BeyondReplay> beyond_replay(const Bundle& bundle) { return Reader(bundle).read(); }

}  // namespace deputy
