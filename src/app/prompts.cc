#include "app/prompts.h"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "app/frames.h"
#include "app/looks.h"
#include "async/descriptor.h"
#include "async/sleep.h"
#include "base/text.h"
#include "delegation/question_desk.h"
#include "tui/line.h"
#include "tui/raw_terminal.h"
#include "tui/style.h"

namespace deputy {
namespace {

constexpr std::string_view kChoices = "[y]es / [n]o, with a reason if you like: ";
constexpr std::string_view kWords = "your answer: ";

// One column stays free: a terminal may wrap what fills its last one.
std::size_t columns_of(int terminal) {
  return static_cast<std::size_t>(std::max(20, terminal_size(terminal).columns - 1));
}

std::string_view choices_for(const Question& question) {
  return question.kind == QuestionKind::permission ? kChoices : kWords;
}

// Why it is asked again.
std::string_view no_answer(const Question& question) {
  if (question.kind == QuestionKind::permission)
    return "that was no answer: type y for yes, or n for no (a reason may follow it)\n";
  return question.suggestions.empty() ? "that was no answer: type it in words\n"
                                      : "that was no answer: type a number, or your own words\n";
}

}  // namespace

std::optional<Answer> words_from(const Question& question, std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return std::nullopt;
  for (std::size_t at = 0; at < question.suggestions.size(); ++at) {
    if (text == std::to_string(at + 1)) return Answer{AnswerKind::text, question.suggestions[at]};
  }
  return Answer{AnswerKind::text, to_utf8(text)};
}

std::string question_text(const Question& question, TerminalLetters letters) {
  const std::string who =
      question.label.empty() ? "" : fmt::format("[{}] ", made_visible(on_one_line(question.label)));
  std::string text = fmt::format("{}{}\n", who, made_visible(question.text));
  // Those of an approval are rules, which nothing is chosen by here.
  const bool is_permission = question.kind == QuestionKind::permission;
  for (std::size_t at = 0; !is_permission && at < question.suggestions.size(); ++at)
    text += fmt::format("  {}. {}\n", at + 1, made_visible(on_one_line(question.suggestions[at])));
  if (letters == TerminalLetters::ascii) text = spelled_in_ascii(text);
  return text + std::string(choices_for(question));
}

void Prompts::on_event(const Event& event) {
  if (const auto* asked = std::get_if<QuestionAsked>(&event.fact)) {
    if (asked->question.kind == QuestionKind::to_parent) return;  // its parent is asked first
    open_.insert(asked->question.id);
    asked_.push(asked->question);
  } else if (const auto* answered = std::get_if<QuestionAnswered>(&event.fact)) {
    open_.erase(answered->question_id);
    if (asking_ && answered->question_id == current_) asking_->request(StopReason::parent);
  }
}

Task<> Prompts::run(StopToken stop) {
  while (auto question = co_await asked_.pop(stop)) {
    if (!open_.contains(question->id)) continue;
    asking_.emplace(stop);
    current_ = question->id;
    parts_.progress.pause();
    const auto answer = co_await ask(*question, asking_->token());
    parts_.progress.go_on();
    shown_.clear();
    asking_.reset();
    if (answer) parts_.reply(question->id, *answer);
  }
}

void Prompts::show_again() {
  if (shown_.empty()) return;
  forget_typed();
  parts_.err.offer(shown_);
  is_due_again_ = is_in_background(parts_.input);
}

// While others have the terminal, it is for them, and who touches it is stopped.
void Prompts::forget_typed() {
  if (!is_in_background(parts_.input)) ::tcflush(parts_.input, TCIFLUSH);
  typed_.clear();
}

void Prompts::leave_line() {
  if (!std::exchange(shown_, {}).empty()) parts_.err.offer("\n");
}

Task<bool> Prompts::until_taken(StopToken stop) {
  Duration wait = kBetweenFrames;
  for (std::uint64_t before = taken(); !parts_.out.catch_up() || !parts_.err.catch_up();) {
    if (std::exchange(before, taken()) != taken()) wait = kBetweenFrames;
    if (co_await sleep_for(parts_.loop, wait, stop) == Slept::stopped) co_return false;
    wait = std::min(wait * 2, kMostBetweenTries);
  }
  co_return true;
}

Task<std::optional<Answer>> Prompts::ask(Question question, StopToken stop) {
  if (!co_await until_taken(stop)) co_return std::nullopt;
  forget_typed();
  // Without secrets first: one that is broken in two is none that could be found. What is approved is not
  // broken at all: no line of its own may pass for the rest of the one above it.
  shown_ = parts_.redactor.redact(question_text(question, parts_.err.letters()));
  if (question.kind != QuestionKind::permission)
    shown_ = wrapped_text(shown_, columns_of(parts_.err.descriptor()), "    ");
  parts_.err.offer(shown_);
  if (parts_.err.is_behind()) {
    if (!co_await until_taken(stop)) co_return std::nullopt;
    forget_typed();
  }
  for (;;) {
    const auto line = co_await read_line(stop);
    if (stop.stopped()) {
      leave_line();
      co_return std::nullopt;
    }
    if (!line) {
      parts_.hung_up();
      co_return std::nullopt;
    }
    const bool is_permission = question.kind == QuestionKind::permission;
    if (auto answer = is_permission ? answer_from(*line) : words_from(question, *line)) co_return answer;
    parts_.err.offer(fmt::format("{}{}", no_answer(question), choices_for(question)));
    if (!co_await until_taken(stop)) co_return std::nullopt;
  }
}

// What is typed for a shell must not be read: who tries is stopped, perhaps just when the shell says `fg` to
// one that it takes to be running. Nobody tells when it is over.
Task<bool> Prompts::until_in_foreground(StopToken stop) {
  while (is_in_background(parts_.input))
    if (co_await sleep_for(parts_.loop, kMostBetweenTries, stop) == Slept::stopped) co_return false;
  co_return true;
}

// Nothing when the terminal has hung up, or when stopped.
Task<std::optional<std::string>> Prompts::read_line(StopToken stop) {
  std::array<char, 4096> buffer;
  while (!typed_.contains('\n')) {
    if (co_await wait_readable(parts_.loop, parts_.input, stop) == Readiness::stopped) co_return std::nullopt;
    if (is_in_background(parts_.input)) {
      is_due_again_ = true;
      if (!co_await until_in_foreground(stop)) co_return std::nullopt;
      if (is_due_again_) show_again();  // a shell may have told that it is over, and it stands there
      continue;
    }
    const ssize_t count = read_what_is_there(parts_.input, buffer);
    if (count < 0 && errno == EAGAIN) continue;       // a shell has taken it
    if (count == 0 && ::isatty(parts_.input) == 1) {  // Ctrl-D, which ends a line and no terminal
      parts_.err.offer("\n");
      typed_ = "\n";  // what stood before it was not sent off by Enter
      continue;
    }
    if (count <= 0) co_return std::nullopt;
    typed_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = typed_.find('\n') + 1;
  std::string line = typed_.substr(0, end);
  typed_.erase(0, end);
  co_return line;
}

}  // namespace deputy
