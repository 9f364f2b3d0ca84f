#include "app/tail_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/letters.h"
#include "app/progress_view.h"
#include "app/run_on.h"
#include "async/sleep.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(250);

// What is new of a session and all below it. The journal is read only when a session has moved.
class Tail {
 public:
  Tail(Program& program, const Store& store, Session session)
      : program_(program), store_(store), session_(std::move(session)), view_(program.looks.out) {}

  // Whether there is nothing more to come. Who runs it is asked before what it did is read: an end that comes
  // between the two is seen.
  Result<bool> look() {
    const auto holder = store_.holder(session_.tree);
    const bool is_run = !holder || *holder;
    TRY(const auto sessions, store_.sessions({.tree = session_.tree, .most = kAllSessions}));
    WallTime moved{};
    for (const auto& each : sessions) {
      origins_[each.id] = {each.parent.value_or(SessionId{}), each.label, each.agent};
      moved = std::max(moved, each.last_event_at);
      if (each.id == session_.id) session_ = each;
    }
    if (std::exchange(moved_, moved) != moved) TRY(print_new(is_run));
    if (is_terminal(session_.state)) tell_end();
    if (is_run || is_terminal(session_.state)) return is_terminal(session_.state);
    program_.err.write_line(
        fmt::format("deputy: nobody runs it any more; to go on: `{}`",
                    program_.command_line(fmt::format("resume {}", session_.tree.value))));
    return true;
  }

 private:
  bool is_below(SessionId id) const {
    for (;;) {
      if (id == session_.id) return true;
      const auto origin = origins_.find(id);
      if (origin == origins_.end() || origin->second.parent.empty()) return false;
      id = origin->second.parent;
    }
  }

  Result<void> print_new(bool is_run) {
    TRY(const auto events, store_.events_of_tree(session_.tree));
    const auto open = is_run ? open_questions(events) : std::vector<Question>{};
    for (const auto& event : events) {
      if (event.seq <= last_seq_) continue;
      last_seq_ = event.seq;
      if (!is_below(event.run.session)) continue;
      tell_how_to_answer(event, open);
      print(event);
    }
    return {};
  }

  // How to answer it, where somebody still can.
  void tell_how_to_answer(const Event& event, const std::vector<Question>& open) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked || asked->question.kind == QuestionKind::to_parent ||
        program_.common.output != OutputForm::text)
      return;
    if (std::ranges::find(open, asked->question.id, &Question::id) != open.end())
      program_.err.write_line(question_line(program_, asked->question));
  }

  // Of a command whose children never came to be there is no line.
  void tell_end() {
    if (program_.common.output != OutputForm::text || has_told_) return;
    std::string end = fmt::format("[{}] {}", session_.label, name_of(session_.state));
    if (!session_.error.empty()) end += ": " + session_.error;
    program_.out.write_line(made_visible(on_one_line(program_.redactor.redact(end))));
  }

  void print(const Event& event) {
    const EventOrigin& origin = origins_[event.run.session];
    if (program_.common.output != OutputForm::text) {
      for (const auto& line : to_lines(event, origin))
        program_.out.write_line(program_.redactor.redact_json(line));
      return;
    }
    view_.apply(event, origin);
    const auto detail = program_.common.verbose ? ProgressView::Detail::all : ProgressView::Detail::usual;
    if (const auto line = view_.line_for(event, detail)) {
      program_.out.write_line(program_.redactor.redact(*line));
      has_told_ = true;
    }
  }

  Program& program_;
  const Store& store_;
  Session session_;
  ProgressView view_;
  std::map<SessionId, EventOrigin> origins_;
  WallTime moved_{};
  std::uint64_t last_seq_ = 0;
  bool has_told_ = false;
};

Task<> follow(Program& program, Tail& tail, Result<void>& outcome) {
  for (;;) {
    const auto ended = tail.look();
    if (!ended) outcome = std::unexpected(ended.error());
    if (!ended || *ended || !program.out.can_be_read()) co_return;
    co_await sleep_for(program.loop, kBetweenLooks, {});
  }
}

}  // namespace

Ended tail_session(Program& program, const Store& store, Session session) {
  Tail tail(program, store, std::move(session));
  Result<void> outcome;
  run_on(program.loop, follow(program, tail, outcome));
  TRY(std::move(outcome));
  return ExitStatus::completed;
}

}  // namespace deputy
