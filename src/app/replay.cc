#include "app/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/replay_script.h"
#include "app/replayed_tool.h"
#include "async/pool.h"
#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "base/random.h"
#include "base/text.h"
#include "model/command.h"
#include "model/scripted.h"
#include "net/sim_network.h"
#include "runtime/runtime.h"
#include "sandbox/processes.h"
#include "store/memory_store.h"

namespace deputy {
namespace {

// The tree as it was, and as it is again: which session of one stands where which of the other does.
class Worlds {
 public:
  Worlds(const std::vector<Event>& then, const std::vector<Event>& now) : now_(now) {
    for (const auto& [id, place] : places_in(then)) then_[place] = id;
  }
  // A text of then, with the ids of now.
  std::string translated(std::string text) const {
    for (const auto& [id, place] : places_in(now_)) {
      if (const auto old = then_.find(place); old != then_.end())
        text = replaced(std::move(text), old->second.value, id.value);
    }
    return text;
  }

 private:
  std::map<std::string, SessionId> then_;
  const std::vector<Event>& now_;
};

// Plays every provider that the tree had, by the script.
class Understudy final : public Provider {
 public:
  Understudy(std::string name, std::unique_ptr<ScriptedProvider> scripted, const std::vector<Event>& then,
             const Worlds& worlds)
      : name_(std::move(name)), scripted_(std::move(scripted)), worlds_(worlds) {
    const auto places = places_in(then);
    std::map<SessionId, const Session*> sessions;
    for (const Event& event : then) {
      if (const auto* created = std::get_if<SessionCreated>(&event.fact))
        sessions[event.run.session] = &created->session;
      const auto* input = std::get_if<InputGiven>(&event.fact);
      const Session* session = sessions[event.run.session];
      if (!input || !session || !begun_.insert(session->id).second) continue;
      by_brief_.try_emplace(Brief{session->label, session->agent, session->depth, input->text},
                            places.at(session->id));
    }
  }
  std::string_view name() const override { return name_; }
  std::string encode(const Message& message) const override { return scripted_->encode(message); }
  // That of the model that it plays is not on record; nothing was compacted then, and nothing is now.
  std::int64_t window(const ModelName&) const override { return 1'000'000'000; }
  std::optional<Price> price(const ModelName& model) const override { return scripted_->price(model); }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    const auto place = by_brief_.find(Brief{request.label, request.agent, request.depth,
                                            request.messages.empty() ? "" : request.messages.front().text});
    if (place != by_brief_.end()) request.label = place->second;
    Reply reply = co_await scripted_->ask(std::move(request), std::move(deltas), std::move(stop));
    for (Call& call : reply.message.calls) call.arguments = worlds_.translated(std::move(call.arguments));
    co_return reply;
  }

 private:
  using Brief = std::tuple<std::string, std::string, int, std::string>;  // with the first input
  std::string name_;
  std::unique_ptr<ScriptedProvider> scripted_;
  const Worlds& worlds_;
  std::set<SessionId> begun_;
  std::map<Brief, std::string> by_brief_;
};

Attendance attendance_in(const std::vector<Event>& events) {
  auto attendance = Attendance::nobody;
  for (const Event& event : events) {
    const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
    if (!answered) continue;
    if (answered->answer.by == Source::person) return Attendance::person;
    if (answered->answer.kind == AnswerKind::approved) attendance = Attendance::approves_all;
  }
  return attendance;
}

// What the person said to the root after its first run, by the number of the run that it began.
std::map<int, std::string> further_inputs(const std::vector<Event>& events) {
  std::map<int, std::string> inputs;
  for (const Event& event : events) {
    const auto* input = std::get_if<InputGiven>(&event.fact);
    if (input && event.run.session == event.tree && event.run.number > 1 && input->source == Source::person)
      inputs.try_emplace(event.run.number, input->text);
  }
  return inputs;
}

bool is_search(const Event& event) {
  const auto* intent = std::get_if<CallStarted>(&event.fact);
  return intent && intent->tool == "WebSearch";
}

bool is_of_a_compaction(const Event& event) {
  const auto* started = std::get_if<RunStarted>(&event.fact);
  return std::holds_alternative<Compacted>(event.fact) || (started && started->task != RunTask::reply);
}

class Replay {
 public:
  explicit Replay(const Bundle& bundle)
      : bundle_(bundle),
        root_(std::get<SessionCreated>(bundle.events.front().fact).session),
        calls_(bundle.events),
        worlds_(bundle.events, memory_->journal) {}

  Result<Replayed> run() {
    TRY(auto models, models_for(script_of(bundle_.events)));
    TRY(prepare_workspace());
    TRY(auto rules, Rules::from_json(root_.permissions));
    start_runtime(std::move(models));
    runtime_->start({.agent = root_.agent,
                     .brief = {.label = root_.label,
                               .prompt = root_.prompt,
                               .max_output_tokens = root_.max_output_tokens},
                     .model = root_.model,
                     .workspace = root_.workspace,
                     .rules = std::move(rules),
                     .network = root_.network,
                     .sandbox_level = root_.sandbox_level},
                    taker());
    TRY(finish());
    for (const auto& [number, text] : further_inputs(bundle_.events)) {
      runtime_->say(memory_->journal.front().tree, {.text = text}, taker());
      TRY(finish());
    }
    return compared(bundle_.events, memory_->journal);
  }

 private:
  Result<Models> models_for(const std::string& script) {
    std::set<std::string> names;
    for (const Event& event : bundle_.events) {
      if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
        const std::string& model = created->session.model.value;
        names.insert(model.substr(0, model.find('/')));
      }
    }
    Models models;
    for (const std::string& name : names) {
      TRY(auto scripted, ScriptedProvider::parse(script, loop_));
      models.add(std::make_unique<Understudy>(name, std::move(scripted), bundle_.events, worlds_));
    }
    models.add_driver(std::make_unique<CommandProvider>());
    return models;
  }

  // What reports name is there to be found; nobody looks what is in it.
  Result<void> prepare_workspace() {
    TRY(const auto workspace, disk_.open(root_.workspace, IfAbsent::create));
    for (const Event& event : bundle_.events) {
      const auto* ended = std::get_if<RunEnded>(&event.fact);
      if (!ended) continue;
      for (const Artifact& artifact : ended->report.artifacts) {
        if (artifact.path.starts_with('/')) continue;
        if (const auto above = artifact.path.rfind('/'); above != std::string::npos)
          (void)workspace->make_folder(artifact.path.substr(0, above));
        (void)workspace->replace(artifact.path, "");  // where it lies outside, then it did too
      }
    }
    return {};
  }

  void start_runtime(Models models) {
    const std::string state = string_or(bundle_.about, "state", "/state");
    auto folder = disk_.open(state, IfAbsent::create);
    ToolSettings tools;
    if (std::ranges::any_of(bundle_.events, is_search))
      tools.search = SearchSettings{SearchService::searxng, "https://search.invalid", ""};
    tools.played = [this](std::shared_ptr<Tool> tool) {
      return replayed_tool(std::move(tool), calls_, *memory_,
                           [this](std::string text) { return worlds_.translated(std::move(text)); });
    };
    runtime_ = std::make_unique<Runtime>(
        Runtime::Parts{.loop = loop_,
                       .pool = pool_,
                       .disk = disk_,
                       .processes = processes_,
                       .random = random_,
                       .store = std::make_unique<MemoryStore>(loop_, memory_),
                       .models = std::move(models),
                       .network = &network_,
                       .state = folder ? std::shared_ptr<const Folder>(*std::move(folder)) : nullptr},
        Runtime::Options{.limits = root_.limits.value_or(TreeLimits{}),
                         .attendance = attendance_in(bundle_.events),
                         .tools = std::move(tools),
                         .hidden = {state}});
    runtime_->subscribe([this](const Event& event, const EventOrigin&) { answer(event); });
  }

  // As the person answered then.
  void answer(const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked) return;
    const RecordedCall* call =
        calls_.find(place_of(event.run.session, memory_->sessions), event.run.number, event.step, event.call);
    if (call && call->answer && call->answer->by == Source::person)
      person_.spawn(say(asked->question.id, *call->answer, call->answered_after));
  }
  Task<> say(std::string question, Answer answer, Duration after) {
    co_await sleep_for(loop_, std::max(after, Duration(std::chrono::milliseconds(1))), person_.token());
    runtime_->answer(std::move(question), std::move(answer));
  }

  Runtime::Done taker() {
    result_.reset();
    return [this](Result<Report> report) { result_ = std::move(report); };
  }
  Result<void> finish() {
    loop_.run_until_idle();
    if (!result_) {
      runtime_->cancel(StopReason::shutdown);
      loop_.run_until_idle();
      return fail(ErrorCode::unavailable, "the tree cannot be replayed: it waits for what came from outside",
                  "look at its events: each line of the bundle is one");
    }
    if (!*result_)
      return fail(ErrorCode::unavailable,
                  fmt::format("the tree cannot be replayed: {}", result_->error().message),
                  result_->error().advice);
    return {};
  }

  const Bundle& bundle_;
  const Session& root_;
  const RecordedCalls calls_;
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
  const Worlds worlds_;
  SimLoop loop_{1};
  InlinePool pool_;
  ManualClock clock_;
  MemoryDisk disk_{clock_};
  SimProcesses processes_{loop_};
  SimNetwork network_{loop_};
  SeededRandom random_{1};
  std::optional<Result<Report>> result_;
  std::unique_ptr<Runtime> runtime_;
  TaskGroup person_{loop_};
};

}  // namespace

Result<Replayed> replay(const Bundle& bundle) {
  if (std::ranges::any_of(bundle.events, is_of_a_compaction))
    return fail(ErrorCode::unavailable,
                "the tree cannot be replayed: a compacted conversation is not replayed",
                "look at its events: each line of the bundle is one");
  return Replay(bundle).run();
}

}  // namespace deputy
