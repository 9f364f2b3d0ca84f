#include "app/chat_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "app/chat_commands.h"
#include "app/chat_screen.h"
#include "app/history.h"
#include "app/output_lines.h"
#include "app/places.h"
#include "app/rule_writer.h"
#include "app/run_on.h"
#include "app/session_lookup.h"
#include "app/streams.h"
#include "async/descriptor.h"
#include "async/task_group.h"
#include "async/waiter.h"
#include "base/text.h"
#include "tui/chat.h"

namespace deputy {
namespace {

constexpr auto kRestOfASequence = std::chrono::milliseconds(50);

std::unique_ptr<Folder> home_or_nothing(const Program& program) {
  auto home = program.open_home();
  return home ? *std::move(home) : nullptr;
}

// In the order in which it may be taken down again.
class ChatRunner {
 public:
  ChatRunner(Program& program, Signals& signals, ChatRequest request, ChatState& state, ChatScreen& screen);
  ExitStatus run();

 private:
  void look_at_clock();
  void do_all(Intents intents);
  void submit(std::string text);
  void on_ended(const Result<Report>& report);
  // `told`: what is said first, where it can be gone on with.
  void resume(const Session& root, std::string_view told);
  void do_command(const DoCommand& command);
  void choose_model(const std::string& name);
  void show(const ModelName& model);
  void compact(const std::string& how);
  void say_error(const Error& error);
  void leave(ExitStatus status);
  [[noreturn]] void leave_at_once();
  void tell_how_to_go_on();
  void pause_program(StopReach reach);

  Task<> drive();
  Task<> read_keys(StopToken stop);
  Task<> watch_signals(StopToken stop);
  Task<> list_folder(std::string folder);
  Task<> write_down(std::string rule);
  void on_bytes(std::string_view bytes);
  void on_keys(const std::vector<Key>& keys);
  void settle_keys_later();

  Program& program_;
  Signals& signals_;
  RootBrief root_;
  const std::optional<std::string> resumed_first_;
  const ModelName first_model_;
  ModelName next_model_;     // that the person chose for what comes
  ModelName session_model_;  // of what the session did last: it is gone on with by that one
  ChatState& state_;
  ChatScreen& screen_;
  KeyReader keys_;
  Engine engine_;
  Runtime& runtime_;
  History history_;
  std::map<SessionId, OutputLines> printing_;  // of commands that run
  std::set<std::string> listed_;  // folders that are looked at just now: a large one takes longer than a key
  Waiter<ExitStatus> left_;
  ExitStatus status_ = ExitStatus::completed;
  std::optional<TimerId> key_timer_;
  TaskGroup beside_;
};

ChatRunner::ChatRunner(Program& program, Signals& signals, ChatRequest request, ChatState& state,
                       ChatScreen& screen)
    : program_(program),
      signals_(signals),
      root_(std::move(request.root)),
      resumed_first_(std::move(request.resume)),
      first_model_(root_.model),
      state_(state),
      screen_(screen),
      engine_(program, std::move(request.engine)),
      runtime_(engine_.runtime),
      history_(home_or_nothing(program)),
      beside_(program.loop) {
  show(root_.model);
  state_.input.history = history_.load();
  for (const Line& line : request.greeting) print(state_, wrapped(line, columns_of(state_), "    "));
  runtime_.subscribe([this](const Event& event, const EventOrigin& origin) {
    look_at_clock();
    if (std::holds_alternative<CallFinished>(event.fact)) printing_.erase(event.run.session);
    do_all(apply(state_, event, origin));
    do_all(next_while_it_waits(state_));
    screen_.draw_soon();
  });
  runtime_.subscribe_output([this](const SessionId& session, const EventOrigin&, std::string_view piece) {
    look_at_clock();
    const std::string lines = printing_[session].take(piece, program_.redactor);
    apply_output(state_, session, lines);
    if (!lines.empty()) screen_.draw_soon();
  });
  runtime_.subscribe_deltas([this](const SessionId& session, const Delta& delta) {
    look_at_clock();
    if (const auto* said = std::get_if<TextDelta>(&delta)) {
      apply_text(state_, session, said->text);
    } else if (const auto* summed_up = std::get_if<SummaryAsked>(&delta)) {
      apply_summary_asked(state_, session, summed_up->tokens);
    } else if (const auto* retried = std::get_if<Retried>(&delta)) {
      apply_retry(state_, session, *retried);
    }
    screen_.draw_soon();
  });
}

void ChatRunner::look_at_clock() {
  state_.now = program_.loop.clock().now();
  state_.wall = program_.loop.clock().wall();
}

void ChatRunner::do_all(Intents intents) {
  struct Doer {
    ChatRunner& chat;
    void operator()(SubmitInput& wanted) const { chat.submit(std::move(wanted.text)); }
    void operator()(GiveAnswer& wanted) const {
      wanted.answer.by = Source::person;
      chat.runtime_.answer(std::move(wanted.question_id), std::move(wanted.answer));
    }
    void operator()(const WriteRule& wanted) const { chat.beside_.spawn(chat.write_down(wanted.rule)); }
    void operator()(const CancelAll&) const { chat.runtime_.cancel(chat.state_.root, StopReason::user); }
    void operator()(CancelOne& wanted) const {
      chat.runtime_.cancel(std::move(wanted.session), StopReason::user);
    }
    void operator()(SendToBackground& wanted) const {
      chat.runtime_.send_to_background(std::move(wanted.session));
    }
    void operator()(NudgeOne& wanted) const {
      chat.runtime_.nudge(std::move(wanted.session), std::move(wanted.text));
    }
    void operator()(const ListFolder& wanted) const {
      if (chat.listed_.insert(wanted.folder).second) chat.beside_.spawn(chat.list_folder(wanted.folder));
    }
    void operator()(const DoCommand& wanted) const { chat.do_command(wanted); }
    void operator()(const LeaveChat& wanted) const {
      chat.leave(wanted.at_once ? ExitStatus::cancelled : ExitStatus::completed);
    }
    void operator()(const PauseProgram&) const { chat.pause_program(StopReach::job); }
    void operator()(const ClearScreen&) const { chat.screen_.clear(); }
  };
  for (auto& intent : intents) {
    if (const auto word = state_.tells_children ? acknowledgement_of(state_, intent) : std::nullopt)
      print(state_, {line_of(*word, Tone::faint)});
    std::visit(Doer{*this}, intent);
  }
}

void ChatRunner::submit(std::string text) {
  history_.add(text);
  if (state_.is_running) return runtime_.nudge(state_.root, std::move(text));
  state_.is_running = true;
  state_.run_started_at = state_.wall;
  auto done = [this](const Result<Report>& report) { on_ended(report); };
  if (state_.root.empty()) {
    RootBrief root = root_;
    root.brief.prompt = std::move(text);
    session_model_ = root.model;
    runtime_.start(std::move(root), done);
  } else {
    if (!next_model_.empty()) session_model_ = next_model_;
    runtime_.say(state_.root, {std::move(text), std::exchange(next_model_, {})}, done);
  }
}

void ChatRunner::on_ended(const Result<Report>& report) {
  look_at_clock();
  end_running(state_);
  if (!report && report.error().code != ErrorCode::cancelled) say_error(report.error());
  while (!state_.is_running && !left_.resumed()) {
    Intents next = next_in_turn(state_);
    if (next.empty()) break;
    do_all(std::move(next));
  }
  screen_.draw_soon();
}

void ChatRunner::say_error(const Error& error) {
  const Line line = line_of(program_.as_typed_here(to_text(error)), Tone::bad);
  print_separated(state_, wrapped(line, columns_of(state_)));
}

void ChatRunner::choose_model(const std::string& name) {
  const auto offer = program_.offer();
  if (!offer) return say_error(offer.error().error);
  auto model = named_model(name, *offer, program_.disk.current_folder());
  if (!model) {
    const bool is_unknown = model.error().code == ErrorCode::not_found;
    const auto here = runtime_.models().find(ModelName(name));  // it lists those that this chat has
    return say_error(is_unknown && !here ? here.error() : model.error());
  }
  if (const auto access = check_access(*model, *offer); !access) {
    const Error& error = access.error();
    return say_error(
        {error.code, fmt::format("the model stays {}: {}", root_.model.value, error.message), error.advice});
  }
  if (const auto found = runtime_.models().find(*model); !found) return say_error(found.error());
  root_.model = *model;
  next_model_ = *model;
  show(*model);
  print_separated(state_, {line_of(fmt::format("from the next input on: {}", model->value), Tone::faint)});
}

void ChatRunner::show(const ModelName& model) {
  show_model(state_, {for_model_line(model), window_of(runtime_.models(), model)});
}

void ChatRunner::resume(const Session& root, std::string_view told) {
  const auto own = runtime_.store().events_of_session(root.id);
  if (!own) return say_error(own.error());
  const ModelName model = last_model_of(root, *own);
  if (!runtime_.models().find(model))
    return say_error(
        {ErrorCode::not_found,
         fmt::format("{} needs the model {}, which this chat does not have", root.id.value, model.value),
         fmt::format("leave, and go on with it in a chat of that model: `{}`",
                     program_.command_line(fmt::format("chat --model {} --resume {}",
                                                       shell_quoted(model.value), root.id.value)))});
  auto events = runtime_.hold(root.id);
  if (!events) return say_error(events.error());
  if (!told.empty()) print_separated(state_, {line_of(told, Tone::faint)});
  fold_history(state_, root.id, *std::move(events));
  next_model_ = {};
  session_model_ = model;
  show(model);
  if (is_terminal(root.state)) return;
  state_.is_running = true;
  runtime_.resume(root.id, [this](const Result<Report>& report) { on_ended(report); });
}

void ChatRunner::do_command(const DoCommand& command) {
  if (command.name == "/quit" || command.name == "/exit") return leave(ExitStatus::completed);
  if (command.name == "/model" && !command.arguments.empty()) return choose_model(command.arguments);
  if (command.name == "/compact") return compact(command.arguments);
  if (command.name == "/resume") {
    if (state_.is_running)
      return say_error(
          {ErrorCode::busy, "something runs here already", "wait for its end, or cancel it with Ctrl-C"});
    const auto root = root_to_go_on_with(runtime_.store(), command.arguments, state_.root);
    if (!root) return say_error(root.error());
    return resume(*root, command.arguments.empty() ? told_of_going_on(*root) : "");
  }
  auto lines = lines_of_command(program_, runtime_, state_, command);
  if (!lines) return say_error(lines.error());
  print_separated(state_, *std::move(lines));
}

void ChatRunner::compact(const std::string& how) {
  if (!how.empty() && how != "undo")
    return say_error({ErrorCode::invalid, fmt::format("/compact does not know '{}'", shorten(how, 40)),
                      "type /compact, or /compact undo"});
  if (state_.root.empty())
    return say_error({ErrorCode::not_found, "nothing has been said yet", "type something first"});
  if (state_.is_running)
    return say_error(
        {ErrorCode::busy, "something runs here already", "wait for its end, or cancel it with Ctrl-C"});
  state_.is_running = true;
  state_.run_started_at = state_.wall;
  if (!next_model_.empty()) session_model_ = next_model_;
  runtime_.say(
      state_.root,
      {.text = "", .model = next_model_, .task = how.empty() ? RunTask::compact : RunTask::undo_compaction},
      [this](const Result<Report>& report) { on_ended(report); });
}

void ChatRunner::leave(ExitStatus status) {
  for (const auto& text : std::exchange(state_.queued, {}))
    print_separated(state_, {line_of("not begun, and not kept: " + on_one_line(text), Tone::doubtful)});
  left_.resume(status);
  // A call that does not let go holds up an end in order.
  state_.notice = {"leaving; Ctrl-C leaves at once"};
  screen_.leave_keys();
  screen_.draw_soon();
}

// The journal is whole at any instant, and deputy-init ends what it started when this process is gone.
void ChatRunner::leave_at_once() {
  signals_.give_back();
  program_.wait_no_longer();
  screen_.finish();
  tell_how_to_go_on();
  std::_Exit(static_cast<int>(ExitStatus::cancelled));
}

void ChatRunner::tell_how_to_go_on() {
  if (state_.root.empty()) return;
  const bool is_named = program_.common.model || session_model_ != first_model_;
  const std::string model = is_named ? fmt::format(" --model {}", shell_quoted(session_model_.value)) : "";
  const std::string resume = fmt::format("chat{} --resume {}", model, state_.root.value);
  program_.out.write_line(
      fmt::format("Kept as {}.\nTo go on: `{}`", state_.root.value, program_.command_line(resume)));
}

// Until a shell goes on with it.
void ChatRunner::pause_program(StopReach reach) {
  if (!screen_.step_aside()) return;
  signals_.stop_process(reach);
  screen_.come_back();
}

Task<> ChatRunner::list_folder(std::string folder) {
  const auto workspace = root_.workspace;
  auto entries = co_await on_pool(program_.loop, engine_.pool, [this, workspace, folder] {
    return entries_of(program_.disk, workspace, folder);
  });
  listed_.erase(folder);
  apply_listing(state_, folder, entries);
  screen_.draw_soon();
}

Task<> ChatRunner::write_down(std::string rule) {
  const auto written = co_await write_rule(program_, engine_.pool, rule, beside_.token());
  if (written) {
    state_.written_rules[rule] = *written;
    print_separated(state_,
                    {line_of(fmt::format("{} is allowed from now on; the rule stands in {}", rule, *written),
                             Tone::faint)});
  } else {
    say_error(written.error());
  }
  screen_.draw_soon();
}

void ChatRunner::on_keys(const std::vector<Key>& keys) {
  look_at_clock();
  hide_unread(state_.dialog);  // where no frame has shown it yet, as the loop was busy
  for (const auto& key : keys) {
    if (left_.resumed()) return;  // what follows is for whoever has the terminal next
    Intents intents = apply_key(state_, key);
    const bool pauses = !intents.empty() && std::holds_alternative<PauseProgram>(intents.front());
    do_all(std::move(intents));
    if (pauses) break;  // and so it is here
  }
  screen_.draw_soon();
}

// An escape is a key of its own only if nothing follows it.
void ChatRunner::settle_keys_later() {
  if (key_timer_) program_.loop.timers().cancel(*key_timer_);
  key_timer_.reset();
  if (!keys_.is_waiting()) return;
  key_timer_ = program_.loop.timers().call_at(program_.loop.clock().now() + kRestOfASequence, [this] {
    key_timer_.reset();
    on_keys(keys_.settle());
  });
}

void ChatRunner::on_bytes(std::string_view bytes) {
  PlainSurface* plain = screen_.plain();
  if (!plain) {
    on_keys(keys_.feed(bytes));
    settle_keys_later();
    return;
  }
  look_at_clock();
  plain->feed(bytes);
  while (const auto keys = left_.resumed() ? std::nullopt : plain->next(state_)) on_keys(*keys);
}

Task<> ChatRunner::read_keys(StopToken stop) {
  std::array<char, 16384> buffer;
  while (!left_.resumed() && co_await wait_readable(program_.loop, STDIN_FILENO, stop) == Readiness::ready) {
    const ssize_t count = read_what_is_there(STDIN_FILENO, buffer);
    if (count < 0 && errno == EAGAIN) continue;  // a shell has taken it
    if (count > 0) {
      on_bytes({buffer.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 && screen_.plain() && ::isatty(STDIN_FILENO) == 1) {
      if (const std::string rest = screen_.plain()->take_unended(); !rest.empty())
        print_separated(state_, {line_of("not taken, as no Enter followed it: " + rest, Tone::doubtful)});
      on_keys({{KeyName::control, "d"}});  // which a terminal in its ordinary mode keeps for itself
    } else {                               // the terminal is gone
      leave(ExitStatus::cancelled);
    }
  }
}

Task<> ChatRunner::watch_signals(StopToken stop) {
  bool was_terminated = false;
  while (const auto number = co_await signals_.next(program_.loop, stop)) {
    switch (*number) {
      case SIGWINCH:
        screen_.resize();
        break;
      case SIGTSTP:
        pause_program(StopReach::process);  // the others were told by the terminal
        break;
      case SIGCONT:
        screen_.come_back();
        break;
      case SIGINT:
        if (left_.resumed()) leave_at_once();
        if (PlainSurface* plain = screen_.plain()) plain->interrupt(state_);
        on_keys({{KeyName::control, "c"}});
        break;
      case SIGTERM:  // with a hang-up it comes once more
        if (std::exchange(was_terminated, true)) leave_at_once();
        [[fallthrough]];
      default:
        program_.wait_no_longer();  // also where the chat is being left already
        leave(ExitStatus::cancelled);
    }
  }
}

Task<> ChatRunner::drive() {
  screen_.draw();
  co_await engine_.find_out_level(program_, &root_);
  beside_.spawn(engine_.see_to_leftovers(program_, beside_.token()));
  beside_.spawn(engine_.prune_what_is_old(program_));
  beside_.spawn(read_keys(beside_.token()));
  beside_.spawn(watch_signals(beside_.token()));
  if (resumed_first_) {
    look_at_clock();
    do_command({"/resume", *resumed_first_});
    screen_.draw_soon();
  }
  status_ = co_await left_.wait();
  // What runs is left as it is, to be gone on with.
  runtime_.cancel(StopReason::shutdown);
  co_await runtime_.close();
  co_await beside_.stop(StopReason::shutdown);
}

ExitStatus ChatRunner::run() {
  run_on(program_.loop, drive());
  signals_.give_back();
  if (key_timer_) program_.loop.timers().cancel(*key_timer_);
  if (status_ == ExitStatus::cancelled) program_.wait_no_longer();
  screen_.finish();
  tell_how_to_go_on();
  return status_;
}

}  // namespace

Ended run_chat(Program& program, Signals& signals, ChatRequest request) {
  ChatState state{.redactor = program.redactor};
  TRY(const auto screen, ChatScreen::open(program, state));
  return ChatRunner(program, signals, std::move(request), state, *screen).run();
}

}  // namespace deputy
