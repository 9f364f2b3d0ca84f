#include "app/letters.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/run_on.h"
#include "async/sleep.h"
#include "base/text.h"
#include "delegation/giving_up.h"
#include "delegation/mailbox.h"
#include "delegation/question_desk.h"
#include "delegation/question_ids.h"
#include "tui/style.h"

namespace deputy {
namespace {

constexpr Duration kGlance = std::chrono::milliseconds(50);
constexpr Duration kPatience = std::chrono::seconds(3);  // processes may take two to end
constexpr std::size_t kAnswerCharacters = 240;
constexpr std::size_t kQuestionCharacters = 4096;  // of a longer one the line names who shows all of it

std::string_view done(LetterKind kind) {
  switch (kind) {
    case LetterKind::cancel:
      return "cancelled";
    case LetterKind::answer:
      return "answered";
    case LetterKind::nudge:
      break;
  }
  return "nudged";
}

// As it is kept, in letters that the terminal has, so that no two look alike.
std::string shown(const Program& program, std::string_view text) {
  std::string visible = made_visible(to_utf8(program.redactor.redact(text)));
  return program.err.letters() == TerminalLetters::ascii ? spelled_in_ascii(visible) : visible;
}

// How the answer to it is typed.
std::string how_to_answer(const Program& program, const Question& question) {
  const auto line = [&](std::string_view text) {
    return program.command_line(fmt::format("sessions answer {} {}", question.asker.value, text));
  };
  if (question.kind == QuestionKind::permission)
    return fmt::format("approve with `{}`, decline with `{}`", line("yes"), line("'no, REASON'"));
  return fmt::format("answer with `{}`", line("TEXT"));
}

// What is asked, and what the agent offers to choose from.
std::string asked_by(const Question& question) {
  std::string text = question.text;
  for (const std::string& suggestion : question.suggestions)
    text += fmt::format("\n- {}", on_one_line(suggestion));
  return text;
}

// As it was asked, line by line; no line of it can pass for one of ours.
std::string whole_question(const Program& program, const Question& question) {
  std::string text =
      fmt::format("deputy: [{}] waits for you:\n", shown(program, on_one_line(question.label)));
  const std::string asked = shown(program, asked_by(question));
  for (const auto line : split(asked, '\n')) text += fmt::format("  {}\n", line);
  return text + fmt::format("deputy: {}", how_to_answer(program, question));
}

std::string how_to_go_on(const Program& program, const SessionId& tree) {
  return program.command_line(fmt::format("resume {}", tree.value));
}

// The answer that lies there for the question until its tree is gone on with.
Result<std::optional<Letter>> answer_left_for(const Store& store, const Session& session,
                                              const Question& question) {
  TRY(auto letters, store.letters(session.tree));
  const auto left = std::ranges::find_if(letters, [&question](const Letter& letter) {
    return letter.kind == LetterKind::answer && letter.question == question.id;
  });
  return left == letters.end() ? std::nullopt : std::optional(std::move(*left));
}

// The first of two answers is the one that counts: what it says must not be taken for what the second says.
OrFailure<void> check_unanswered(const Program& program, const Store& store, const Session& session,
                                 const Question& question) {
  TRY(const auto left, answer_left_for(store, session, question));
  if (!left) return {};
  return fail(ErrorCode::invalid,
              fmt::format("{} has an answer to this question waiting for it already: {}", session.id.value,
                          shorten(on_one_line(to_utf8(left->text)), kAnswerCharacters)),
              fmt::format("that one counts once `{}` goes on with it; add to it with `{}`",
                          how_to_go_on(program, session.tree),
                          program.command_line(fmt::format("sessions nudge {} TEXT", session.id.value))));
}

// What was asked is settled once whoever runs the tree has read it.
std::string answered_line(const Program& program, const Session& session, const Question& question,
                          const Letter& answer) {
  const std::string when = session.state == SessionState::interrupted
                               ? fmt::format("nobody runs its tree now; it is acted on with `{}`",
                                             how_to_go_on(program, session.tree))
                               : "it is told in a moment";
  return program.redactor.redact(
      error_line({ErrorCode::invalid,
                  fmt::format("[{}] has its answer: {}", question.label,
                              shorten(on_one_line(to_utf8(answer.text)), kAnswerCharacters)),
                  when}));
}

// The letter to leave, or why there is none.
OrFailure<Letter> letter_for(const Program& program, const Store& store, const Session& session,
                             LetterKind kind, const std::string& text) {
  const std::string& id = session.id.value;
  if (is_terminal(session.state))
    return fail(ErrorCode::invalid, fmt::format("{} has ended ({})", id, name_of(session.state)),
                fmt::format("see `deputy sessions show {}`", id));
  if (kind != LetterKind::cancel && trimmed(text).empty())
    return fail(ErrorCode::invalid, "the text is empty", "write what it is to be told");
  Letter letter{.tree = session.tree, .session = session.id, .kind = kind, .text = text};
  if (kind != LetterKind::answer) return letter;
  TRY(const auto events, store.events_of_session(session.id));
  const auto open = open_questions(events);
  if (open.empty())
    return fail(ErrorCode::invalid, fmt::format("{} asks nothing", id),
                fmt::format("say something to it with `deputy sessions nudge {} TEXT`", id));
  const Question& question = open.front();
  if (question.kind == QuestionKind::permission && !answer_from(text))
    return misused(fmt::format("{} asks for permission: the answer is yes, or no with a reason", id),
                   how_to_answer(program, question));
  TRY(check_unanswered(program, store, session, question));
  letter.question = question.id;
  return letter;
}

Task<> wait_until_taken(Loop& loop, Store& store, SessionId tree, std::int64_t id, bool& taken) {
  for (const TimePoint end = loop.clock().now() + kPatience; !taken && loop.clock().now() < end;) {
    co_await sleep_for(loop, kGlance, {});
    const auto letters = store.letters(tree);
    taken = letters && std::ranges::find(*letters, id, &Letter::id) == letters->end();
  }
}

// One that is gone was acted on, or came too late for that.
Result<void> check_was_told(const Store& store, const Letter& letter) {
  TRY(const auto events, store.events_of_session(letter.session));
  if (was_told(letter, events)) return {};
  const std::string& id = letter.session.value;
  const bool is_settled =
      letter.kind == LetterKind::answer &&
      std::ranges::any_of(events, [&letter](const Event& event) { return settles(event, letter.question); });
  return fail(ErrorCode::invalid,
              is_settled ? fmt::format("the question of {} was settled before it was told", id)
                         : fmt::format("{} had ended before it was told", id),
              fmt::format("see `deputy sessions show {}`", id));
}

// What became of it: in words, or as the JSON that was asked for.
Ended tell(Program& program, const Session& session, std::string_view status, const std::string& line) {
  if (program.common.output == OutputForm::text) {
    program.out.write_line(line);
  } else {
    program.print(json::object{{"status", status}, {"session_id", session.id.value}});
  }
  return ExitStatus::completed;
}

Ended tell_done(Program& program, const Session& session, LetterKind kind) {
  return tell(program, session, done(kind), fmt::format("{} {}", session.id.value, done(kind)));
}

Ended tell_ended(Program& program, const Session& session) {
  return tell(program, session, "ended",
              fmt::format("{} had ended already ({})", session.id.value, name_of(session.state)));
}

// It may have come to an end of its own before it was stopped.
Ended tell_cancelled(Program& program, const Store& store, const Session& session) {
  TRY(const auto now, store.session(session.id));
  const bool ended_itself = now && is_terminal(now->state) && now->state != SessionState::cancelled;
  return ended_itself ? tell_ended(program, *now) : tell_done(program, session, LetterKind::cancel);
}

Task<> give_up_now(Loop& loop, Store& store, SessionId tree, Result<void>& ended) {
  ended = co_await give_up(store, std::move(tree), loop.clock().wall());
}

}  // namespace

std::vector<Question> open_questions(const std::vector<Event>& events) {
  std::vector<Question> open;
  for (const Event& event : events) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    const bool ends_run = std::holds_alternative<RunEnded>(event.fact);
    std::erase_if(open, [&](const Question& each) {
      const bool is_asked_again = asked && asked->question.id == each.id;  // after a restart
      return is_asked_again || settles(event, each.id) || (ends_run && each.asker == event.run.session);
    });
    if (asked) open.push_back(asked->question);
  }
  return open;
}

bool was_told(const Letter& letter, const std::vector<Event>& events) {
  if (letter.kind == LetterKind::nudge)
    return std::ranges::any_of(events, [id = nudge_of(letter).id](const Event& event) {
      const auto* nudged = std::get_if<Nudged>(&event.fact);
      return nudged && nudged->id == id;
    });
  std::optional<Answer> given;
  for (const Event& event : events) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (asked && asked->question.id == letter.question) given = answer_in_words(asked->question, letter.text);
    const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
    if (given && answered && answered->question_id == letter.question) return answered->answer == *given;
  }
  return false;
}

std::string question_line(const Program& program, const Question& question) {
  const std::string text = shown(program, on_one_line(asked_by(question)));
  std::string advice = how_to_answer(program, question);
  if (utf8_length(text) > kQuestionCharacters) {
    const auto show = program.command_line(fmt::format("sessions show {}", question.asker.value));
    advice = fmt::format("read all of it with `{}`, then {}", show, advice);
  }
  return error_line({ErrorCode::invalid,
                     fmt::format("[{}] waits for you: {}", shown(program, question.label),
                                 shorten(text, kQuestionCharacters)),
                     std::move(advice)});
}

void tell_questions(Program& program, const Store& store, const std::vector<Session>& sessions,
                    QuestionForm form) {
  const auto told = form == QuestionForm::whole ? whole_question : question_line;
  for (const Session& session : sessions) {
    const bool waits_for_person = session.wait && session.wait->owner == kPerson;
    if (!waits_for_person && session.state != SessionState::interrupted) continue;
    const auto events = store.events_of_session(session.id);
    for (const Question& question : open_questions(events.value_or(std::vector<Event>{}))) {
      const bool is_for_parent = question.kind == QuestionKind::to_parent && session.parent;
      if (is_for_parent) continue;
      const auto left = answer_left_for(store, session, question);
      const bool has_answer = left && *left;
      program.err.write_line(has_answer ? answered_line(program, session, question, **left)
                                        : told(program, question));
    }
  }
}

Ended cancel_session(Program& program, Store& store, const Session& session) {
  const auto holder = store.holder(session.tree);
  if (holder && !*holder && !session.parent) {
    TRY(const auto left, store.sessions({.tree = session.tree, .unfinished_only = true, .most = 1}));
    if (!left.empty()) {
      Result<void> ended;
      run_on(program.loop, give_up_now(program.loop, store, session.tree, ended));
      if (ended) return tell_done(program, session, LetterKind::cancel);
      // Who has claimed it meanwhile is told.
      if (ended.error().code != ErrorCode::busy) return std::unexpected(CommandFailure(ended.error()));
    }
  }
  if (is_terminal(session.state)) return tell_ended(program, session);  // twice is harmless
  return leave_letter(program, store, session, LetterKind::cancel, "");
}

Ended leave_letter(Program& program, Store& store, const Session& session, LetterKind kind,
                   const std::string& text) {
  TRY(auto letter, letter_for(program, store, session, kind, text));
  TRY(letter.id, store.post(letter));
  letter.text = program.redactor.redact(letter.text);  // as it is kept
  bool taken = false;
  const auto holder = store.holder(session.tree);
  if (!holder || *holder)
    run_on(program.loop, wait_until_taken(program.loop, store, session.tree, letter.id, taken));
  if (taken && kind == LetterKind::cancel) return tell_cancelled(program, store, session);
  if (taken) {
    TRY(check_was_told(store, letter));
    return tell_done(program, session, kind);
  }
  const std::string why = holder && *holder
                              ? "it is acted on once there is a place for it to run"
                              : fmt::format("nobody runs its tree now; it is acted on with `{}`",
                                            how_to_go_on(program, session.tree));
  return tell(program, session, "left", fmt::format("left for {}: {}", session.id.value, why));
}

}  // namespace deputy
