#include "app/tree_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/frames.h"
#include "app/output_lines.h"
#include "app/past_events.h"
#include "app/progress.h"
#include "app/prompts.h"
#include "app/run_on.h"
#include "app/session_text.h"
#include "async/task_group.h"
#include "async/waiter.h"
#include "base/text.h"
#include "delegation/profiles.h"

namespace deputy {
namespace {

constexpr std::string_view kReportIt =
    "please report this; `deputy doctor --bundle newest` writes what is needed to find it";

// All that one run of the loop needs, in the order in which it may be taken down again.
class TreeRunner {
 public:
  TreeRunner(Program& program, Signals& signals, TreeRequest request);
  TreeEnd run();

 private:
  void on_event(const Event& event, const EventOrigin& origin);
  void on_output(const SessionId& session, const EventOrigin& origin, std::string_view text);
  void keep_unapproved(const Event& event);
  void offer_out(const std::string& line);
  void catch_up_out();
  void show_what_was();
  void start();
  Task<> drive();
  Task<> watch_signals(StopToken stop);
  Task<> name_kept_work(std::string workspace);
  [[noreturn]] void leave_at_once();
  void suspend();
  void show_again();
  Task<> a_turn_of_the_loop();
  void look_back();

  Program& program_;
  Signals& signals_;
  std::variant<RootBrief, SessionId, FurtherInput> what_;
  std::optional<TreeLimits> terms_;
  TreeEnd end_;
  bool was_told_to_end_ = false;  // by a signal, or by a reader that went away
  bool has_root_ended_ = false;
  std::uint64_t last_seq_ = 0;
  std::map<std::string, Question> asked_;    // for permission, by id
  std::map<SessionId, OutputLines> output_;  // of commands
  Progress progress_;
  Frames out_again_{program_.loop, [this] { catch_up_out(); }};
  Engine engine_;
  Runtime& runtime_;
  Prompts prompts_;
  TaskGroup beside_;
};

// Not where the person answers from another process.
bool prompts_person(const Program& program) {
  return program.looks.person && attendance_of(program) == Attendance::person;
}

TreeRunner::TreeRunner(Program& program, Signals& signals, TreeRequest request)
    : program_(program),
      signals_(signals),
      what_(std::move(request.what)),
      terms_(request.terms),
      progress_({.loop = program.loop,
                 .err = program.err,
                 .redactor = program.redactor,
                 .form = program.looks.progress,
                 .style = program.looks.err,
                 .detail = program.common.verbose ? ProgressView::Detail::all : ProgressView::Detail::usual,
                 .shows_questions = !prompts_person(program),
                 .approves_all = program.common.approve_all,
                 .keys = program.looks.hides_keys ? std::optional(STDIN_FILENO) : std::nullopt}),
      engine_(program, std::move(request.engine)),
      runtime_(engine_.runtime),
      prompts_(
          {.loop = program.loop,
           .progress = progress_,
           .out = program.out,
           .err = program.err,
           .redactor = program.redactor,
           .input = STDIN_FILENO,
           .reply = [this](const std::string& id, Answer answer) { runtime_.answer(id, std::move(answer)); },
           .hung_up = [this] { suspend(); }}),
      beside_(program.loop) {
  runtime_.subscribe([this](const Event& event, const EventOrigin& origin) { on_event(event, origin); });
  runtime_.subscribe_output([this](const SessionId& session, const EventOrigin& origin,
                                   std::string_view text) { on_output(session, origin, text); });
  runtime_.subscribe_deltas([this](const SessionId& session, const Delta& delta) {
    if (const auto* summary = std::get_if<SummaryAsked>(&delta))
      progress_.on_summary_asked(session, summary->tokens);
  });
}

void TreeRunner::on_event(const Event& event, const EventOrigin& origin) {
  if (end_.root.empty()) end_.root = event.tree;
  last_seq_ = event.seq;
  has_root_ended_ |= std::holds_alternative<RunEnded>(event.fact) && event.run.session == event.tree;
  if (program_.announcer && !origin.parent.empty()) program_.announcer->announce(event.run.session.value);
  progress_.on_event(event, origin);
  if (prompts_person(program_)) prompts_.on_event(event);
  if (attendance_of(program_) == Attendance::nobody) keep_unapproved(event);
  if (program_.common.output != OutputForm::stream_json) return;
  for (const auto& line : to_lines(event, origin)) {
    offer_out(program_.redactor.redact_json(line) + "\n");
  }
}

// An event that a terminal does not take is not kept until the next one comes.
void TreeRunner::offer_out(const std::string& line) {
  program_.out.offer(line);
  if (program_.out.is_behind()) out_again_.try_again(program_.out.taken());
  // Who follows the events wanted no more of them: what they cost is not spent for nobody. The last ones
  // cost nothing any more.
  if (has_root_ended_ || !program_.out.is_reader_gone() || std::exchange(was_told_to_end_, true)) return;
  prompts_.leave_line();
  progress_.say("deputy: nobody reads the events any more, so the run is left as it is");
  runtime_.cancel(StopReason::shutdown);
}

void TreeRunner::catch_up_out() {
  program_.out.catch_up() ? out_again_.drawn() : out_again_.try_again(program_.out.taken());
}

void TreeRunner::keep_unapproved(const Event& event) {
  const auto* asked = std::get_if<QuestionAsked>(&event.fact);
  if (asked && asked->question.kind == QuestionKind::permission)
    asked_.insert_or_assign(asked->question.id, asked->question);
  const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
  const auto found = answered ? asked_.find(answered->question_id) : asked_.end();
  if (found != asked_.end() && answered->answer.kind == AnswerKind::nobody)
    end_.unapproved.push_back(found->second);
}

// For who follows the stream, and for a person who wants to see everything.
void TreeRunner::on_output(const SessionId& session, const EventOrigin& origin, std::string_view text) {
  const std::string shown = output_[session].take(text, program_.redactor);
  if (shown.empty()) return;
  if (program_.common.output == OutputForm::stream_json) {
    json::object line{{"v", 1},
                      {"event", "session.progress"},
                      {"seq", last_seq_},
                      {"at", to_iso8601(program_.loop.clock().wall())},
                      {"session_id", session.value},
                      {"parent_id", nullptr},
                      {"label", origin.label},
                      {"agent", origin.agent},
                      {"output", shown}};
    if (!origin.parent.empty()) line["parent_id"] = origin.parent.value;
    offer_out(to_json_text(line) + "\n");
  } else if (program_.common.verbose) {
    for (const auto line : lines_of(shown))
      progress_.say(fmt::format("[{}] | {}", made_visible(origin.label), made_visible(line)));
  }
}

// Who goes on with a tree sees all of it; in lines nothing of it is told again, so that it need not be read.
// A journal that cannot be read is told of by the run itself.
void TreeRunner::show_what_was() {
  if (program_.looks.progress != ProgressForm::live) return;
  auto events = runtime_.store().events_of_tree(end_.root);
  if (!events) return;
  for (const auto& [event, origin] : past_events(*std::move(events))) progress_.on_past_event(event, origin);
}

void TreeRunner::start() {
  auto done = [this](Result<Report> report) { end_.report = std::move(report); };
  if (auto* root = std::get_if<RootBrief>(&what_)) {
    beside_.spawn(name_kept_work(root->workspace));
    runtime_.start(std::move(*root), done);
  } else if (auto* further = std::get_if<FurtherInput>(&what_)) {
    end_.root = further->root;
    show_what_was();
    runtime_.say(end_.root, std::move(further->input), done);
  } else {
    end_.root = std::get<SessionId>(what_);
    show_what_was();
    runtime_.resume(end_.root, done, terms_);
  }
}

Task<> TreeRunner::a_turn_of_the_loop() {
  const Waiter<bool> turn;
  program_.loop.post([turn] { turn.resume(true); });
  co_await turn.wait();
}

Task<> TreeRunner::drive() {
  beside_.spawn(watch_signals(beside_.token()));
  beside_.spawn(engine_.see_to_leftovers(program_, beside_.token()));
  if (prompts_person(program_)) beside_.spawn(prompts_.run(beside_.token()));
  end_.report = fail(ErrorCode::internal, "the run ended without a report", std::string(kReportIt));
  co_await engine_.find_out_level(program_, std::get_if<RootBrief>(&what_));
  start();
  co_await a_turn_of_the_loop();  // start() only posts; the tree exists from here on
  beside_.spawn(engine_.prune_what_is_old(program_));
  try {
    co_await runtime_.close();
  } catch (const std::exception& bug) {
    end_.report =
        fail(ErrorCode::internal, fmt::format("a bug in deputy: {}", bug.what()), std::string(kReportIt));
  }
  co_await beside_.stop(StopReason::shutdown);
  signals_.give_back();
  if (was_told_to_end_) program_.wait_no_longer();
  // Nothing runs any more that could not wait for the terminal.
  out_again_.cancel();
  program_.out.write({});
  program_.err.write({});
  progress_.finish();
  program_.err.write({});
  if (const auto failure = runtime_.store().export_failure()) {
    program_.tell({failure->code, "transcript files are incomplete: " + failure->message,
                   "nothing is lost: `deputy sessions transcript ID` reads the journal"});
  }
}

// What dead children left, once the run itself is under way.
Task<> TreeRunner::name_kept_work(std::string workspace) {
  const auto kept = co_await runtime_.clean_workspace(std::move(workspace));
  if (!kept || kept->empty()) co_return;
  progress_.say(
      fmt::format("deputy: work of earlier agents that was not merged: {}", fmt::join(*kept, ", ")));
}

Task<> TreeRunner::watch_signals(StopToken stop) {
  Interrupts interrupts;
  while (const auto number = co_await signals_.next(program_.loop, stop)) {
    const SignalAction action = interrupts.on_signal(*number, program_.loop.clock().now());
    const bool is_of_the_screen =
        action == SignalAction::pause || action == SignalAction::come_back || action == SignalAction::resize;
    was_told_to_end_ = was_told_to_end_ || !is_of_the_screen;
    switch (action) {
      case SignalAction::cancel:
        prompts_.leave_line();
        progress_.say("deputy: cancelling; what was found is kept (again within 2 s to leave at once)");
        runtime_.cancel(*number == SIGTERM ? StopReason::terminated : StopReason::user);
        break;
      case SignalAction::suspend:
        suspend();
        break;
      case SignalAction::leave:
        leave_at_once();
      case SignalAction::pause:
        progress_.step_aside();
        signals_.stop_process();
        show_again();
        break;
      case SignalAction::come_back:
        show_again();
        break;
      case SignalAction::resize:
        progress_.resize();
        break;
    }
  }
}

// A question at a terminal that hangs up may see it before the signal comes.
void TreeRunner::suspend() {
  was_told_to_end_ = true;
  prompts_.leave_line();
  end_.left_by = "SIGHUP";
  runtime_.cancel(StopReason::shutdown);
}

// A shell has written on the screen since.
void TreeRunner::show_again() {
  progress_.come_back();
  prompts_.show_again();
}

// The journal is whole at any instant, and deputy-init ends what it started when this process is gone.
void TreeRunner::leave_at_once() {
  signals_.give_back();       // a terminal that takes a byte now and then has a moment after each
  program_.wait_no_longer();  // a moment for each, or the screen would be left in the middle of a frame
  program_.out.write({});
  program_.err.write({});
  progress_.finish();
  Error why{ErrorCode::cancelled, "left; what was cancelled stays so", "start it again: nothing had begun"};
  if (!end_.root.empty()) {
    why.advice = fmt::format("to go on with the rest: `{}`",
                             program_.command_line(fmt::format("resume {}", end_.root.value)));
    program_.err.offer(error_line(why) + "\n");
  }
  program_.err.write({});
  if (program_.common.output != OutputForm::text && program_.out.has_room_soon()) {
    json::object document = to_json(CommandFailure(std::move(why), ExitStatus::cancelled));
    if (!end_.root.empty()) document["session_id"] = end_.root.value;
    program_.print(document);
  }
  std::_Exit(static_cast<int>(ExitStatus::cancelled));
}

void TreeRunner::look_back() {
  if (end_.root.empty()) return;
  if (auto sessions = runtime_.store().sessions({.tree = end_.root, .most = kAllSessions}))
    end_.sessions = *std::move(sessions);
  if (auto events = runtime_.store().events_of_session(end_.root)) end_.root_events = *std::move(events);
  const auto root = std::ranges::find(end_.sessions, end_.root, &Session::id);
  if (root == end_.sessions.end() || root->agent != kCommandAgent) return;
  for (const Session& child : children_of(end_.root, end_.sessions)) {
    std::optional<Report> last;
    const auto events = runtime_.store().events_of_session(child.id);
    for (const Event& event : events.value_or(std::vector<Event>{})) {
      if (const auto* ended = std::get_if<RunEnded>(&event.fact)) last = *ended->report;
    }
    if (last) end_.children.push_back(*std::move(last));
  }
}

TreeEnd TreeRunner::run() {
  run_on(program_.loop, drive());
  look_back();
  return std::move(end_);
}

}  // namespace

TreeEnd run_tree(Program& program, Signals& signals, TreeRequest request) {
  return TreeRunner(program, signals, std::move(request)).run();
}

}  // namespace deputy
