#include "app/replay_attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "app/replay_death.h"
#include "app/replay_files.h"
#include "app/replay_git.h"
#include "app/replay_happenings.h"
#include "app/replay_models.h"
#include "app/replay_person.h"
#include "app/replay_random.h"
#include "async/pool.h"
#include "async/sim_loop.h"
#include "async/task_group.h"
#include "delegation/giving_up.h"
#include "net/sim_network.h"
#include "runtime/runtime.h"
#include "sandbox/processes.h"
#include "store/memory_store.h"
#include "store/session_view.h"

namespace deputy {
namespace {

constexpr std::string_view kLookAtIt = "look at its events: each line of the bundle is one";

// So many events cost as much as a step where all are looked through, as they are for each that is recorded.
constexpr std::size_t kLookedThroughInAStep = 64;

class World {
 public:
  World(const Recording& recording, Guess guess, std::size_t& steps)
      : recording_(recording),
        events_(recording.bundle.events),
        root_(recording.root),
        guess_(std::move(guess)),
        steps_(steps),
        loop_(guess_.order) {}

  Result<Replayed> run() {
    const auto played = play();
    run_until([this] { return loop_.is_idle(); });
    if (is_broken_off_) stop();
    loop_.run_until_idle();
    runtime_.reset();  // what rode along last is in the journal then
    if (is_broken_off_) return fail(ErrorCode::exhausted, "all steps of the simulation were made");
    TRY(played);
    return recording_.comparison.with(memory_->journal);
  }
  Guess learned() const {
    Guess next = guess_;
    next.created = random_.drawn_by(Places(memory_->journal));
    return next;
  }

 private:
  Result<void> play() {
    TRY(put_files(disk_, events_));
    processes_.define("git", [this](const ProcessSpec& spec) { return git_.run(spec); });
    TRY(auto rules, Rules::from_json(root_.permissions));
    set_clock(events_.front().at);
    TRY(start_runtime(attendance_in(events_until_program(0, 0))));
    await();
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
    const auto& next = recording_.outside.continuations;
    for (std::size_t i = 0; i < next.size(); ++i)
      TRY(go_on(next[i], attendance_in(events_until_program(next[i].event, i + 1))));
    return {};
  }
  // Those that what goes on at `from` led to.
  std::span<const Event> events_until_program(std::size_t from, std::size_t program) const {
    const auto& next = recording_.outside.continuations;
    const std::size_t to = program < next.size() ? next[program].event : events_.size();
    return std::span(events_).subspan(from, to - from);
  }

  Result<void> start_runtime(Attendance attendance) {
    TRY(auto models, replayed_models(recording_, loop_, playback_, places_));
    const std::string state = string_or(recording_.bundle.about, "state", "/state");
    auto folder = disk_.open(state, IfAbsent::create);
    ToolSettings tools;
    if (guess_.has_search)
      tools.search = SearchSettings{SearchService::searxng, "https://search.invalid", ""};
    tools.played = [this](std::shared_ptr<Tool> tool) {
      return replayed_tool(std::move(tool), recording_.calls, told_calls_, places_, playback_.course,
                           [this](std::string_view text) { return worlds_.translated(text); });
    };
    runtime_ = std::make_unique<Runtime>(
        Runtime::Parts{.loop = loop_,
                       .pool = pool_,
                       .disk = disk_,
                       .processes = processes_,
                       .random = random_,
                       .store = std::make_unique<MemoryStore>(loop_, memory_),
                       .models = std::move(models),
                       .profiles = agents_in(recording_.bundle),
                       .network = &network_,
                       .state = folder ? std::shared_ptr<const Folder>(*std::move(folder)) : nullptr},
        Runtime::Options{.limits = root_.limits.value_or(TreeLimits{}),
                         .attendance = attendance,
                         .tools = std::move(tools),
                         .hidden = {state}});
    runtime_->subscribe([this](const Event& event, const EventOrigin&) {
      told_.push_back(event);
      spend(told_.size() / kLookedThroughInAStep);
      places_.take(event);
      has_taken_up_ = has_taken_up_ || std::holds_alternative<TakenUp>(event.fact);
      playback_.course.take(places_.of(event.run.session), event.fact);
      answer(event);
      look_outside();
    });
    return {};
  }

  void await() {
    playback_.on_ask = [this] { look_outside(); };
    for (const TimePoint moment : happenings_.moments())
      loop_.timers().call_at(moment, [this] { look_outside(); });
  }
  // Not before it is on record that a program took the tree up does it end.
  void look_outside() {
    while (!has_left_) {
      const auto next = happenings_.next(loop_.clock().now(), has_taken_up_);
      spend(happenings_.looked_at() / kLookedThroughInAStep);
      if (!next) return;
      happen(*next);
    }
  }
  void happen(const Outside& outside) {
    if (ends_program(outside)) {
      if (outside.kind == Outside::Kind::die) die(outside.after);
      has_left_ = true;
      return runtime_->cancel(StopReason::shutdown);
    }
    const SessionId* session = places_.at(outside.place);
    if (!session) return;
    switch (outside.kind) {
      case Outside::Kind::cancel:
        return runtime_->cancel(*session,
                                outside.text == kEndedBySigterm ? StopReason::terminated : StopReason::user);
      case Outside::Kind::nudge:
        random_.say(outside.id);
        return runtime_->nudge(*session, playback_.translated(outside.text));
      default:
        return runtime_->send_to_background(*session);
    }
  }

  void die(const std::map<std::string, Progress>& then) {
    told_ = left_by_death(told_, told_before_, places_, then);
    if (told_.empty()) return;
    memory_->journal = told_;
    memory_->sessions.clear();
    for (const Event& event : told_) apply_to_session(memory_->sessions[event.run.session], event);
    ++memory_->epochs[told_.front().tree];
  }
  // Whoever does reads all that is on record.
  void take_up() {
    spend(events_.size());
    told_ = memory_->journal;
    told_before_ = told_.size();
    places_ = Places(told_);
    playback_.take_up(told_, places_);
    random_.go_on(places_);
    if (!told_.empty()) told_calls_ = RecordedCalls(told_);
  }

  void leave_words(const std::vector<Word>& words) {
    for (const Word& word : words) {
      const SessionId* session = places_.at(word.place);
      if (!session) continue;
      memory_->inbox.push_back({.id = ++memory_->letters_so_far,
                                .tree = tree(),
                                .session = *session,
                                .text = playback_.translated(word.text)});
    }
  }
  const SessionId& tree() const { return memory_->journal.front().tree; }

  // A further input, or that it is taken up, by another process: there another may be the one who answers.
  Result<void> go_on(const Continuation& next, Attendance attendance) {
    if (!next.input && !has_left_) return {};
    TRY(end_program());
    take_up();
    loop_.manual_clock().advance_to(playback_.moment(next.event));
    set_clock(events_[next.event].at);
    if (next.gives_up) return give_up_tree();
    leave_words(next.words);
    TRY(start_runtime(attendance));
    has_left_ = false;
    has_taken_up_ = next.input.has_value();  // one that had ended is not
    if (next.input) {
      runtime_->say(tree(),
                    {.text = playback_.translated(*next.input),
                     .model = next.model,
                     .terms = next.limits,
                     .task = next.task},
                    taker());
    } else {
      runtime_->resume(tree(), taker(), next.limits);
    }
    return finish();
  }
  // Nothing that it has begun goes on then, and nothing that was about to call it is left.
  Result<void> end_program() {
    if (!runtime_) return {};
    is_closed_ = false;
    person_.spawn(close());
    if (!run_until([this] { return is_closed_; }) || !run_until([this] { return !loop_.has_ready(); }))
      return waits();
    runtime_.reset();
    return {};
  }
  Task<> close() {
    co_await runtime_->close();
    is_closed_ = true;
  }
  // By a process that does not run it.
  Result<void> give_up_tree() {
    MemoryStore store(loop_, memory_);
    std::optional<Result<void>> given_up;
    person_.spawn(give_up_by(&store, tree(), loop_.clock().wall(), &given_up));
    loop_.run_until([&given_up] { return given_up.has_value(); });
    loop_.run_until([this] { return !loop_.has_ready(); });
    if (!given_up) return waits();
    return *std::move(given_up);
  }
  static Task<> give_up_by(Store* store, SessionId tree, WallTime now,
                           std::optional<Result<void>>* given_up) {
    *given_up = co_await give_up(*store, std::move(tree), now);
  }
  // Ids tell the second in which they were made. No clock can tell how far it is back from beyond centuries.
  void set_clock(WallTime wall) {
    constexpr TimePoint kBeyondCenturies{std::chrono::years(150)};
    if (loop_.clock().now() < kBeyondCenturies)
      loop_.manual_clock().jump_wall(believable(wall) - loop_.clock().wall());
  }

  // As the person answered then.
  void answer(const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked) return;
    const RecordedCall* call =
        recording_.calls.find(places_.of(event.run.session), event.run.number, event.step, event.call);
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
    if (!run_until([this] { return result_.has_value(); })) return waits();
    if (!*result_ && !has_left_)
      return fail(ErrorCode::unavailable,
                  fmt::format("the tree cannot be replayed: {}", result_->error().message),
                  result_->error().advice);
    return {};
  }
  std::unexpected<Error> waits() {
    stop();
    loop_.run_until_idle();
    return fail(ErrorCode::unavailable, "the tree cannot be replayed: it waits for what came from outside",
                std::string(kLookAtIt));
  }
  // Nothing more is recorded: so all that is under way comes to its end.
  void stop() {
    has_left_ = true;
    for (auto& [tree, epoch] : memory_->epochs) ++epoch;
    if (runtime_) runtime_->cancel(StopReason::shutdown);
    person_.request_stop(StopReason::shutdown);
  }
  void spend(std::size_t steps) {
    is_broken_off_ = is_broken_off_ || steps > steps_;
    steps_ -= std::min(steps, steps_);
  }
  // False where there is nothing more to do before that, or no step left to do it in.
  bool run_until(const std::function<bool()>& done) {
    bool is_done = false;
    loop_.run_until([&] {
      is_done = done();
      is_broken_off_ = is_broken_off_ || (!is_done && steps_ == 0);
      if (is_done || is_broken_off_) return true;
      --steps_;
      return false;
    });
    return is_done;
  }

  const Recording& recording_;
  const std::vector<Event>& events_;
  const Session& root_;
  const Guess guess_;
  std::size_t& steps_;
  bool is_broken_off_ = false;
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
  Places places_;  // of now
  const Worlds worlds_{recording_.places, places_};
  Playback playback_{recording_, worlds_};
  SimLoop loop_;
  InlinePool pool_;
  ManualClock clock_;
  MemoryDisk disk_{clock_};
  SimProcesses processes_{loop_};
  const ReplayedGit git_{events_, disk_, places_, *memory_};
  SimNetwork network_{loop_};
  ReplayedRandom random_{events_, guess_.created};
  std::vector<Event> told_;      // so far
  std::size_t told_before_ = 0;  // by the programs before this one
  RecordedCalls told_calls_;     // by them too
  Happenings happenings_{recording_.outside, playback_};
  bool has_left_ = false;     // the program, and the tree has not ended
  bool has_taken_up_ = true;  // the tree, from the one before
  bool is_closed_ = false;
  std::optional<Result<Report>> result_;
  std::unique_ptr<Runtime> runtime_;
  TaskGroup person_{loop_};
};

}  // namespace

Attempt attempt(const Recording& recording, Guess guess, std::size_t& steps) {
  World world(recording, std::move(guess), steps);
  auto replayed = world.run();
  return {std::move(replayed), world.learned()};
}

}  // namespace deputy
