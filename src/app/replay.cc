#include "app/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

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

constexpr std::int64_t kLongestWaitMs = 24 * 60 * 60 * 1000;  // that a script may say
constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShownCharacters = 300;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

json::value reply_json(const Reply& reply, WallTime::duration took) {
  json::array calls;
  for (const Call& call : reply.message.calls)
    calls.push_back(json::object{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  json::object usage{{"input", reply.usage.input},
                     {"output", reply.usage.output},
                     {"cache_read", reply.usage.cache_read},
                     {"cache_write", reply.usage.cache_write}};
  if (reply.usage.cost_micros) usage["cost_micros"] = *reply.usage.cost_micros;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(took).count();
  json::object scripted{{"text", reply.message.text},
                        {"calls", std::move(calls)},
                        {"usage", std::move(usage)},
                        {"first_byte_ms", std::clamp<std::int64_t>(ms, 0, kLongestWaitMs)}};
  if (reply.stop != ReplyStop::finished && reply.stop != ReplyStop::calls) {
    const bool is_known = reply.stop == ReplyStop::context_exhausted || reply.stop == ReplyStop::no_key ||
                          reply.stop == ReplyStop::refused || reply.stop == ReplyStop::output_limit ||
                          reply.stop == ReplyStop::stalled;
    scripted["error"] =
        json::object{{"kind", is_known ? name_of(reply.stop) : "failed"}, {"message", reply.error}};
  }
  return scripted;
}

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
  std::int64_t window(const ModelName& model) const override { return scripted_->window(model); }
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

bool is_compared(const Fact& fact) {
  return !std::holds_alternative<StateChanged>(fact) && !std::holds_alternative<Retried>(fact) &&
         !std::holds_alternative<BudgetReserved>(fact) && !std::holds_alternative<DeadlineMoved>(fact) &&
         !std::holds_alternative<ProcessEnded>(fact);
}

// Times, what a script cannot say, and what is offered to the person by the disk's names.
bool is_passed_over(std::string_view key, const json::value& value) {
  constexpr std::array kKeys = {"uuid", "wire", "thinking", "suggestions"};
  if (key.ends_with("_us") || key.ends_with("_ns") || std::ranges::find(kKeys, key) != kKeys.end())
    return true;
  return key == "cost_micros" && (value.is_null() || value == 0);  // nothing, or not known
}

json::value without_what_differs(const json::value& value) {
  if (const auto* list = value.if_array()) {
    json::array kept;
    for (const auto& each : *list) kept.push_back(without_what_differs(each));
    return kept;
  }
  const auto* object = value.if_object();
  if (!object) return value;
  json::object kept;
  for (const auto& [key, each] : *object)
    if (!is_passed_over(key, each)) kept[key] = without_what_differs(each);
  return kept;
}

json::object comparable(const Fact& fact) {
  json::object body = without_what_differs(fact_to_json(fact)).as_object();
  if (std::holds_alternative<ReplyReceived>(fact)) body["reply"].as_object().erase("model");
  if (std::holds_alternative<RunEnded>(fact)) {
    if (auto* metadata = body["report"].as_object().if_contains("metadata"))
      if (metadata->is_object()) metadata->as_object().erase("model");
  }
  return body;
}

// Run, step, call: the calls of one step may end in any order, what is told of one of them has an order.
using Where = std::tuple<int, int, int>;

struct Told {
  std::map<Where, std::vector<std::string>> lines;
  std::size_t events = 0;
  bool has_ended = false;
};

// By the session's place.
std::map<std::string, Told> told_in(const std::vector<Event>& events) {
  const auto places = places_in(events);
  std::map<std::string, std::string> names;
  for (const Event& event : events) {
    const auto* created = std::get_if<SessionCreated>(&event.fact);
    if (!created) continue;
    const std::string& place = places.at(event.run.session);
    names[event.run.session.value] = fmt::format("<{}>", place);
    if (!created->session.uuid.empty()) names[created->session.uuid.value] = fmt::format("<uuid {}>", place);
  }
  std::map<std::string, Told> told;
  for (const Event& event : events) {
    Told& session = told[places.at(event.run.session)];
    session.has_ended = session.has_ended || std::holds_alternative<RunEnded>(event.fact);
    if (!is_compared(event.fact)) continue;
    std::string text = to_json_text(comparable(event.fact));
    for (const auto& [id, name] : names) text = replaced(std::move(text), id, name);
    session.lines[{event.run.number, event.step, event.call}].push_back(
        fmt::format("{} {}", kind_of(event.fact), text));
    ++session.events;
  }
  return told;
}

// Around the place from which the two differ.
std::string shown(const std::string& text, std::size_t differs_at) {
  const std::string_view kind = std::string_view(text).substr(0, text.find(' '));
  const std::size_t from = differs_at - std::min(differs_at, kShownBefore);
  return fmt::format(
      "{} {}{}", kind, from > kind.size() ? "…" : "",
      shorten(to_utf8(std::string_view(text).substr(std::max(from, kind.size()))), kShownCharacters));
}

std::string difference(const Where& where, const std::string& then, const std::string& now) {
  const auto differs_at = static_cast<std::size_t>(std::ranges::mismatch(then, now).in1 - then.begin());
  const auto& [run, step, call] = where;
  return fmt::format("run {}, step {}{}: then {}; now {}", run, step,
                     call < 0 ? "" : fmt::format(", call {}", call), shown(then, differs_at),
                     shown(now, differs_at));
}

// The first, if any. What had not ended goes on now.
std::optional<std::string> difference(const Told& then, const Told& now) {
  const auto line = [](const std::vector<std::string>& lines, std::size_t at) {
    return at < lines.size() ? lines[at] : std::string("nothing");
  };
  std::set<Where> everywhere;
  for (const auto& [where, lines] : then.lines) everywhere.insert(where);
  for (const auto& [where, lines] : now.lines) everywhere.insert(where);
  for (const Where& where : everywhere) {
    const auto before = then.lines.find(where);
    const auto after = now.lines.find(where);
    const auto lines = before == then.lines.end() ? std::vector<std::string>{} : before->second;
    const auto again = after == now.lines.end() ? std::vector<std::string>{} : after->second;
    const auto differ = std::ranges::mismatch(lines, again);
    if (differ.in1 == lines.end() && (differ.in2 == again.end() || !then.has_ended)) continue;
    const auto at = static_cast<std::size_t>(differ.in1 - lines.begin());
    return difference(where, line(lines, at), line(again, at));
  }
  return std::nullopt;
}

Replayed compared(const std::vector<Event>& then, const std::vector<Event>& now) {
  const auto expected = told_in(then);
  auto found = told_in(now);
  Replayed replayed{.sessions = expected.size()};
  for (const auto& [place, told] : expected) {
    replayed.events += told.events;
    if (const auto differ = difference(told, found[place]))
      replayed.differences.push_back(fmt::format("session {}, {}", place, *differ));
  }
  for (const auto& [place, told] : found) {
    if (!expected.contains(place) && expected.at("root").has_ended)
      replayed.differences.push_back(fmt::format("session {} is new", place));
  }
  return replayed;
}

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

std::string script_of(const std::vector<Event>& events) {
  const auto places = places_in(events);
  std::map<SessionId, WallTime> last;  // event of each
  std::map<std::string, json::array> replies;
  for (const Event& event : events) {
    const auto before = last.contains(event.run.session) ? last.at(event.run.session) : event.at;
    last[event.run.session] = event.at;
    auto& said = replies[places.at(event.run.session)];
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact))
      said.push_back(reply_json(reply->reply, event.at - before));
  }
  json::array sessions;
  for (auto& [place, said] : replies)
    sessions.push_back(json::object{{"match", json::object{{"label", place}}}, {"replies", std::move(said)}});
  return to_json_text(json::object{{"v", 1}, {"sessions", std::move(sessions)}});
}

Result<Replayed> replay(const Bundle& bundle) { return Replay(bundle).run(); }

}  // namespace deputy
