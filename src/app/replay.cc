#include "app/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "app/replay_beyond.h"
#include "app/replay_files.h"
#include "app/replay_git.h"
#include "app/replay_models.h"
#include "app/replay_outside.h"
#include "app/replay_person.h"
#include "app/replay_random.h"
#include "app/replayed_tool.h"
#include "async/pool.h"
#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "net/sim_network.h"
#include "runtime/runtime.h"
#include "sandbox/processes.h"
#include "store/memory_store.h"
#include "store/session_view.h"

namespace deputy {
namespace {

// What is not on record, and is found by trying.
struct Guess {
  std::uint64_t order = 1;                // in which of many is done what is ready in one moment
  bool has_search = false;                // whether the person had a search service
  std::vector<std::string> created = {};  // the places of sessions, as they came to their ids
  bool operator==(const Guess&) const = default;
};

constexpr std::string_view kLookAtIt = "look at its events: each line of the bundle is one";

// What comes from outside waits for what comes soon, or not at all.
constexpr Duration kPatience = std::chrono::seconds(10);

class Replay {
 public:
  Replay(const Bundle& bundle, Guess guess)
      : bundle_(bundle),
        guess_(std::move(guess)),
        root_(std::get<SessionCreated>(bundle.events.front().fact).session),
        known_(models_in(bundle)),
        calls_(bundle.events),
        worlds_(bundle.events, memory_->journal),
        playback_(bundle.events, worlds_),
        loop_(guess_.order) {}

  Result<Replayed> run() {
    const auto played = play();
    loop_.run_until_idle();
    runtime_.reset();  // what rode along last is in the journal then
    TRY(played);
    return compared(bundle_.events, memory_->journal);
  }
  // The same, with ids for the sessions that come to them in this order.
  Guess learned() const {
    Guess next = guess_;
    next.created = random_.drawn_by(places_in(memory_->journal));
    return next;
  }

 private:
  Result<void> play() {
    TRY(put_files(disk_, bundle_.events));
    processes_.define("git", [this](const ProcessSpec& spec) { return git_.run(spec); });
    TRY(auto rules, Rules::from_json(root_.permissions));
    auto outside = outside_in(bundle_.events);
    const auto& next = outside.continuations;
    // Those that what goes on at `from` led to, until the next does.
    const auto events_from = [&](std::size_t from, std::size_t index) {
      const std::size_t to = index < next.size() ? next[index].event : bundle_.events.size();
      return std::span(bundle_.events).subspan(from, to - from);
    };
    set_clock(bundle_.events.front().at);
    TRY(start_runtime(attendance_in(events_from(0, 0))));
    await(std::move(outside.happenings));
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
    for (std::size_t i = 0; i < next.size(); ++i)
      TRY(go_on(next[i], attendance_in(events_from(next[i].event, i + 1))));
    return {};
  }

  Result<void> start_runtime(Attendance attendance) {
    TRY(auto models, replayed_models(bundle_.events, loop_, playback_, *memory_, known_));
    const std::string state = string_or(bundle_.about, "state", "/state");
    auto folder = disk_.open(state, IfAbsent::create);
    ToolSettings tools;
    if (guess_.has_search)
      tools.search = SearchSettings{SearchService::searxng, "https://search.invalid", ""};
    tools.played = [this](std::shared_ptr<Tool> tool) {
      return replayed_tool(std::move(tool), calls_, told_calls_, *memory_, playback_.course,
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
                       .profiles = agents_in(bundle_),
                       .network = &network_,
                       .state = folder ? std::shared_ptr<const Folder>(*std::move(folder)) : nullptr},
        Runtime::Options{.limits = root_.limits.value_or(TreeLimits{}),
                         .attendance = attendance,
                         .tools = std::move(tools),
                         .hidden = {state}});
    runtime_->subscribe([this](const Event& event, const EventOrigin&) {
      told_.push_back(event);
      if (const auto* created = std::get_if<SessionCreated>(&event.fact))
        created_[created->session->id] = created->session;
      playback_.course.take(place_of(event.run.session, created_), event.fact);
      answer(event);
      look_outside();
    });
    return {};
  }

  void await(std::vector<Outside> happenings) {
    happenings_ = std::move(happenings);
    playback_.on_ask = [this] { look_outside(); };
    for (const Outside& each : happenings_) {
      for (const Duration patience : {Duration{}, kPatience})
        loop_.timers().call_at(moment(each) + patience, [this] { look_outside(); });
    }
  }
  TimePoint moment(const Outside& outside) const { return playback_.moment(outside.at); }
  bool is_due(const Outside& outside) const {
    const TimePoint now = loop_.clock().now();
    if (now < moment(outside)) return false;
    if (now >= moment(outside) + kPatience) return true;
    return playback_.course.has_reached(outside.event) &&
           std::ranges::all_of(outside.after, [this](const auto& each) {
             return playback_.course.steps(each.first) >= each.second.events &&
                    playback_.asked(each.first) >= each.second.requests;
           });
  }
  void look_outside() {
    while (!has_left_) {
      const auto due = next_due();
      if (due == happenings_.end()) return;
      const Outside outside = std::move(*due);
      happenings_.erase(due);
      happen(outside);
    }
  }
  // A program ends only once, and before the one after it.
  std::vector<Outside>::iterator next_due() {
    bool is_another_end = false;
    return std::ranges::find_if(happenings_, [&](const Outside& outside) {
      if (!ends_program(outside)) return is_due(outside);
      return !std::exchange(is_another_end, true) && is_due(outside);
    });
  }
  static bool ends_program(const Outside& outside) {
    return outside.kind == Outside::Kind::leave || outside.kind == Outside::Kind::die;
  }
  void happen(const Outside& outside) {
    if (ends_program(outside)) {
      if (outside.kind == Outside::Kind::die) die(outside.after);
      has_left_ = true;
      return runtime_->cancel(StopReason::shutdown);
    }
    for (const auto& [id, session] : created_) {
      if (place_of(id, created_) != outside.place) continue;
      switch (outside.kind) {
        case Outside::Kind::cancel:
          return runtime_->cancel(
              id, outside.text == kEndedBySigterm ? StopReason::terminated : StopReason::user);
        case Outside::Kind::nudge:
          random_.say(outside.id);
          return runtime_->nudge(id, playback_.translated(outside.text));
        default:
          return runtime_->send_to_background(id);
      }
    }
  }

  // What each session had told by then is on record, and nothing that comes after it.
  void die(const std::map<std::string, Progress>& then) {
    std::map<std::string, std::size_t> steps;
    std::erase_if(told_, [&](const Event& event) {
      const std::string place = place_of(event.run.session, created_);
      const auto progress = then.find(place);
      const std::size_t most = progress == then.end() ? 0 : progress->second.events;
      std::size_t& made = steps[place];
      if (is_step(event.fact) || made > most) ++made;
      return made > most;
    });
    if (told_.empty()) return;
    memory_->journal = told_;
    memory_->sessions.clear();
    for (const Event& event : told_) apply_to_session(memory_->sessions[event.run.session], event);
    ++memory_->epochs[told_.front().tree];
  }
  void take_up() {
    told_ = memory_->journal;
    created_ = memory_->sessions;
    playback_.take_up(told_);
    random_.go_on(created_);
    if (!told_.empty()) told_calls_ = RecordedCalls(told_);
  }

  void leave_words(const std::vector<Word>& words) {
    for (const auto& [id, session] : created_) {
      for (const Word& word : words) {
        if (word.place != place_of(id, created_)) continue;
        memory_->inbox.push_back({.id = ++memory_->letters_so_far,
                                  .tree = session.tree,
                                  .session = id,
                                  .text = playback_.translated(word.text)});
      }
    }
  }

  // A further input, or that it is taken up, by another process: there another may be the one who answers.
  Result<void> go_on(const Continuation& next, Attendance attendance) {
    if (!next.input && !has_left_) return {};
    const SessionId root = memory_->journal.front().tree;
    is_closed_ = false;
    person_.spawn(close());
    loop_.run_until([this] { return is_closed_; });
    runtime_.reset();
    has_left_ = false;
    take_up();
    leave_words(next.words);
    TRY(start_runtime(attendance));
    loop_.manual_clock().advance_to(playback_.moment(next.at));
    set_clock(next.at);
    if (next.input) {
      runtime_->say(root,
                    {.text = playback_.translated(*next.input),
                     .model = next.model,
                     .terms = next.limits,
                     .task = next.task},
                    taker());
    } else {
      runtime_->resume(root, taker(), next.limits);
    }
    return finish();
  }
  // Ids tell the second in which they were made.
  void set_clock(WallTime wall) { loop_.manual_clock().jump_wall(believable(wall) - loop_.clock().wall()); }
  Task<> close() {
    co_await runtime_->close();
    is_closed_ = true;
  }

  // As the person answered then.
  void answer(const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked) return;
    const RecordedCall* call =
        calls_.find(place_of(event.run.session, created_), event.run.number, event.step, event.call);
    if (!call) return;
    const auto answered = call->answers.find(asked->question.kind);
    if (answered != call->answers.end() && answered->second.answer.by == Source::person)
      person_.spawn(say(asked->question.id, answered->second));
  }
  Task<> say(std::string question, RecordedCall::Answered answered) {
    const TimePoint soon = loop_.clock().now() + Duration(1);  // when the question can be answered
    co_await playback_.course.reach(loop_, answered.event, std::max(answered.at, soon), person_.token());
    if (runtime_) runtime_->answer(std::move(question), std::move(answered.answer));
  }

  Runtime::Done taker() {
    result_.reset();
    return [this](Result<Report> report) { result_ = std::move(report); };
  }
  Result<void> finish() {
    loop_.run_until([this] { return result_.has_value(); });
    if (!result_) {
      runtime_->cancel(StopReason::shutdown);
      loop_.run_until_idle();
      return fail(ErrorCode::unavailable, "the tree cannot be replayed: it waits for what came from outside",
                  std::string(kLookAtIt));
    }
    if (!*result_ && !has_left_)
      return fail(ErrorCode::unavailable,
                  fmt::format("the tree cannot be replayed: {}", result_->error().message),
                  result_->error().advice);
    return {};
  }

  const Bundle& bundle_;
  const Guess guess_;
  const Session& root_;
  const KnownModels known_;
  const RecordedCalls calls_;
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
  const Worlds worlds_;
  Playback playback_;
  SimLoop loop_;
  InlinePool pool_;
  ManualClock clock_;
  MemoryDisk disk_{clock_};
  SimProcesses processes_{loop_};
  const ReplayedGit git_{bundle_.events, disk_, *memory_};
  SimNetwork network_{loop_};
  ReplayedRandom random_{bundle_.events, guess_.created};
  std::vector<Event> told_;   // so far
  RecordedCalls told_calls_;  // by the programs before this one
  std::map<SessionId, Session> created_;
  std::vector<Outside> happenings_;  // that have not come yet
  bool has_left_ = false;            // the program, and the tree has not ended
  bool is_closed_ = false;
  std::optional<Result<Report>> result_;
  std::unique_ptr<Runtime> runtime_;
  TaskGroup person_{loop_};
};

bool is_same(const Result<Replayed>& replayed) { return replayed && replayed->differences.empty(); }

// Until one comes out the same: else that which comes closest.
Result<Replayed> replayed_by_guesses(const Bundle& bundle) {
  constexpr std::uint64_t kOrders = 8;
  const auto search = has_search(bundle);
  std::optional<Result<Replayed>> closest;
  for (std::uint64_t order = 1; order <= kOrders; ++order) {
    Guess guess{.order = order, .has_search = search.value_or(order % 2 == 0)};
    for (const int attempt : {1, 2}) {
      Replay replay(bundle, guess);
      auto replayed = replay.run();
      if (is_same(replayed)) return replayed;
      const bool is_closer =
          !closest ||
          (replayed && (!*closest || replayed->differences.size() < (*closest)->differences.size()));
      if (is_closer) closest = std::move(replayed);
      Guess next = replay.learned();
      if (attempt == 2 || next == guess) break;
      guess = std::move(next);
    }
  }
  return *std::move(closest);
}

}  // namespace

Result<Replayed> replay(const Bundle& bundle) {
  auto replayed = replayed_by_guesses(bundle);
  if (!replayed || replayed->differences.empty()) return replayed;
  for (const BeyondReplay& beyond : beyond_replay(bundle)) {
    if (replayed->first < beyond.from) continue;  // it cannot be for that
    return fail(ErrorCode::unavailable,
                fmt::format("the tree cannot be replayed: {}; it goes another way from here: {}", beyond.why,
                            replayed->differences.front()),
                std::string(kLookAtIt));
  }
  return replayed;
}

}  // namespace deputy
