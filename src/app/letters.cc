#include "app/letters.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/run_on.h"
#include "async/sleep.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr Duration kGlance = std::chrono::milliseconds(50);
constexpr Duration kPatience = std::chrono::seconds(3);  // processes may take two to end

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

// What the session asks and has no answer to.
std::optional<Question> open_question(const std::vector<Event>& events) {
  std::optional<Question> open;
  for (const Event& event : events) {
    if (const auto* asked = std::get_if<QuestionAsked>(&event.fact)) open = asked->question;
    if (std::holds_alternative<QuestionAnswered>(event.fact)) open.reset();
  }
  return open;
}

// The letter to leave, or why there is none.
Result<Letter> letter_for(const Store& store, const Session& session, LetterKind kind,
                          const std::string& text) {
  const std::string& id = session.id.value;
  if (is_terminal(session.state))
    return fail(ErrorCode::invalid, fmt::format("{} has ended ({})", id, name_of(session.state)),
                fmt::format("see `deputy sessions show {}`", id));
  if (kind != LetterKind::cancel && trimmed(text).empty())
    return fail(ErrorCode::invalid, "the text is empty", "write what it is to be told");
  Letter letter{.tree = session.tree, .session = session.id, .kind = kind, .text = text};
  if (kind != LetterKind::answer) return letter;
  TRY(const auto events, store.events_of_session(session.id));
  const auto question = open_question(events);
  if (!question)
    return fail(ErrorCode::invalid, fmt::format("{} asks nothing", id),
                fmt::format("say something to it with `deputy sessions nudge {} TEXT`", id));
  letter.question = question->id;
  return letter;
}

Task<> wait_until_taken(Loop& loop, Store& store, SessionId tree, std::int64_t id, bool& taken) {
  for (const TimePoint end = loop.clock().now() + kPatience; !taken && loop.clock().now() < end;) {
    co_await sleep_for(loop, kGlance, {});
    const auto letters = store.letters(tree);
    taken = letters && std::ranges::find(*letters, id, &Letter::id) == letters->end();
  }
}

}  // namespace

Ended leave_letter(Program& program, Store& store, const Session& session, LetterKind kind,
                   const std::string& text) {
  if (kind == LetterKind::cancel && is_terminal(session.state)) {  // twice is harmless
    program.out.write_line(
        fmt::format("{} had ended already ({})", session.id.value, name_of(session.state)));
    return ExitStatus::completed;
  }
  TRY(const auto letter, letter_for(store, session, kind, text));
  TRY(const auto id, store.post(letter));
  bool taken = false;
  const auto holder = store.holder(session.tree);
  if (!holder || *holder)
    run_on(program.loop, wait_until_taken(program.loop, store, session.tree, id, taken));
  program.out.write_line(
      taken ? fmt::format("{} {}", session.id.value, done(kind))
      : holder && *holder
          ? fmt::format("left for {}: it is acted on once there is a place for it to run", session.id.value)
          : fmt::format("left for {}: nobody runs its tree now; it is acted on with `{}`", session.id.value,
                        program.command_line(fmt::format("resume {}", session.tree.value))));
  return ExitStatus::completed;
}

}  // namespace deputy
