#include "app/replay_beyond.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "app/replay_moments.h"
#include "app/replay_recording.h"

namespace deputy {
namespace {

// With what may come of a limit: a last step, and an end by force.
constexpr WallTime::duration kLongAfter = std::chrono::minutes(5);
// What is less is how exactly clocks are kept: by that no deadline moves.
constexpr WallTime::duration kSetBack = std::chrono::seconds(1);

class Reader {
 public:
  explicit Reader(const Bundle& bundle)
      : bundle_(bundle), profiles_(agents_in(bundle)), known_(models_in(bundle)) {}

  std::vector<BeyondReplay> read() {
    for (std::size_t at = 0; at < bundle_.events.size(); ++at) {
      const Event& event = bundle_.events[at];
      if (at > 0 && believable(bundle_.events[at - 1].at) - believable(event.at) >= kSetBack)
        found_.push_back({.why = "its machine's clock was set back, and by how much is not on record",
                          .from = at,
                          .is_of_time = true});
      read_work(event, at);
    }
    return std::move(found_);
  }

 private:
  void add(std::string why, std::size_t from) { found_.push_back({std::move(why), from}); }

  void read_work(const Event& event, std::size_t at) {
    const SessionId& id = event.run.session;
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
      const Session& session = created->session;
      models_[id] = session.model;
      const std::size_t wished = session.delegation ? wished_at(session.delegation->call, at) : at;
      if (!profiles_.find(session.agent))
        add(fmt::format("the agent {} is not built in, and not in the bundle", session.agent), wished);
      if (session.workspace_mode == WorkspaceMode::worktree)
        add("not all that git said of a worktree is in the bundle", wished);
    }
    if (std::holds_alternative<ReplyReceived>(event.fact)) replies_[{event.run, event.step}] = at;
    if (const auto* started = std::get_if<RunStarted>(&event.fact)) {
      if (!started->model.empty()) models_[id] = started->model;
      if (started->task == RunTask::compact) wished_.insert(event.run);
    }
    if (const auto* word = std::get_if<Nudged>(&event.fact); word && word->source == Source::runtime)
      add("its program ended in the middle, and commands were lost", at);
    if (std::holds_alternative<Compacted>(event.fact) && !wished_.contains(event.run) && !is_window_known(id))
      add("a conversation was compacted, and when depends on what is not in the bundle", at);
  }
  // From there on its parent may do something else, before there is a child.
  std::size_t wished_at(const CallId& call, std::size_t created) const {
    const auto reply = replies_.find({call.run, call.step});
    return reply == replies_.end() ? created : reply->second + 1;
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
  std::map<std::pair<RunId, int>, std::size_t> replies_;  // by run and step
  std::set<RunId> wished_;                                // runs that the person asked to compact
};

std::optional<WallTime> deadline_in(const Fact& fact) {
  if (const auto* created = std::get_if<SessionCreated>(&fact)) return created->session->deadline;
  if (const auto* started = std::get_if<RunStarted>(&fact)) return started->deadline;
  if (const auto* moved = std::get_if<DeadlineMoved>(&fact)) return moved->deadline;
  return std::nullopt;
}

// Whether the time of a session may stand still by it, or be up as it should.
bool ends_time(const Fact& fact) {
  const auto* input = std::get_if<InputGiven>(&fact);
  return (input && input->about != Reason::none) || std::holds_alternative<QuestionAsked>(fact) ||
         std::holds_alternative<StateChanged>(fact) || std::holds_alternative<RunEnded>(fact);
}

}  // namespace

std::vector<BeyondReplay> beyond_replay(const Bundle& bundle) { return Reader(bundle).read(); }

std::optional<BeyondReplay> went_on_late(const Bundle& bundle) {
  std::map<SessionId, std::pair<WallTime, std::size_t>> times;  // that are up then, and where that was said
  for (std::size_t at = 0; at < bundle.events.size(); ++at) {
    const Event& event = bundle.events[at];
    const SessionId& session = event.run.session;
    if (std::holds_alternative<TakenUp>(event.fact)) times.clear();
    if (ends_time(event.fact)) times.erase(session);
    const auto time = times.find(session);
    if (time != times.end() && believable(event.at) > believable(time->second.first) + kLongAfter)
      return BeyondReplay{.why =
                              "a session had gone on for long after its time was up: its deadline was not "
                              "kept, or its machine's clock was set forward",
                          .from = time->second.second,
                          .is_of_time = true};
    if (const auto deadline = deadline_in(event.fact)) times[session] = {*deadline, at};
  }
  return std::nullopt;
}

}  // namespace deputy
