#include "tui/plain_surface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kRows = std::numeric_limits<std::size_t>::max();
// Whoever types an answer has not read yet that it is not waited for any more.
constexpr auto kStillAnswering = std::chrono::seconds(2);
constexpr std::size_t kWordCharacters = 40;
const Key kEnter{KeyName::enter};

// A choice by its key or its word, and nothing beside it: "always ask me" approves nothing. Only a no may
// have a reason. No keys where it is none of these.
std::vector<Key> approval_keys(const Question& question, std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(" \t,:"), text.size());
  const std::string first = lowered(text.substr(0, end));
  if (first == "n" || first == "no") {
    const std::string reason(trimmed(text.substr(std::min(end + 1, text.size()))));
    return {{KeyName::text, "n"}, {KeyName::text, reason}, kEnter};
  }
  if (end < text.size()) return {};
  for (const std::string_view word : {"yes", "session", "always"}) {
    if (first != word && first != word.substr(0, 1)) continue;
    const bool is_offered = word == "yes" || !question.suggestions.empty();
    if (!is_offered) return {};
    std::vector<Key> keys{{KeyName::text, first.substr(0, 1)}};
    if (word != "yes") keys.push_back(kEnter);
    return keys;
  }
  return {};
}

std::vector<Key> input_keys(std::string_view line) { return {{KeyName::paste, std::string(line)}, kEnter}; }

bool is_to_leave(std::string_view text) { return text == "/quit" || text == "/exit"; }

// The word with a slash that the text begins with; none where that is a path.
std::string_view command_word(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  const bool is_one = word.size() > 1 && word.starts_with('/') && !word.substr(1).contains('/');
  return is_one ? word : std::string_view{};
}

// Whether it begins with one that the chat knows.
bool is_command(std::string_view text) {
  const std::string_view name = command_word(text);
  return is_to_leave(name) || std::ranges::any_of(slash_commands(), [name](const SlashCommand& command) {
           return command.name == name;
         });
}

// "y", "n because …", "2", or an answer in words.
std::vector<Key> answer_keys(const Question& question, std::string_view line) {
  std::string text(trimmed(line));
  if (text.empty()) return {};
  if (question.kind == QuestionKind::permission) return approval_keys(question, text);
  if (text == "w") return {};  // the choice to say it in words, of which there are none yet
  for (std::size_t at = 0; at < question.suggestions.size(); ++at) {
    if (text == std::string(1, key_of_suggestion(at))) return {{KeyName::text, text}};
  }
  if (text.starts_with('/') && !command_word(std::string_view(text).substr(1)).empty()) text.erase(0, 1);
  return {{KeyName::text, "w"}, {KeyName::text, text}, kEnter};
}

std::string how_to_answer(const Question& question) {
  if (question.kind != QuestionKind::permission)
    return question.suggestions.empty() ? "type it in words" : "type a number, or your own words";
  if (question.suggestions.empty()) return "type y for yes, or n for no (a reason may follow it)";
  return "type y for yes, s for this session, a for always, or n for no (a reason may follow it)";
}

// A command that was mistyped must not be told to who asks.
std::string no_command(const Question& question, std::string_view word) {
  std::vector<std::string> known;
  for (const auto& each : slash_commands()) known.emplace_back(each.name);
  const auto near = nearest(word, known);
  return fmt::format(
      "there is no {}{}; {}", shorten(word, kWordCharacters),
      near.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(near, " or ")),
      question.kind == QuestionKind::permission
          ? how_to_answer(question)
          : "an answer that begins with a slash is typed with two: /" + shorten(word, kWordCharacters));
}

}  // namespace

std::optional<std::vector<Key>> PlainSurface::next(ChatState& state) {
  const std::size_t end = typed_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string line = to_utf8(typed_.substr(0, end));
  typed_.erase(0, end + 1);
  is_prompted_ = false;
  if (is_command(trimmed(line))) return command_keys(state, line);
  if (is_open(state.dialog)) return keys_for_question(state, line);
  if (!std::exchange(question_, {}).empty() && (!settled_at_ || state.now - *settled_at_ < kStillAnswering)) {
    complaint_ = "not taken, as what was asked was settled meanwhile: " + on_one_line(line);
    return std::vector<Key>{};
  }
  return input_keys(line);
}

// It answers nothing, whatever is asked and whether or not that could be read.
std::vector<Key> PlainSurface::command_keys(ChatState& state, std::string_view line) {
  if (!is_open(state.dialog)) return input_keys(line);
  // What waits for an answer has no end that somebody who leaves could wait for.
  const std::string_view text = trimmed(line);
  if (is_to_leave(text.substr(0, text.find(' '))) && can_be_answered(state)) return {{KeyName::control, "d"}};
  state.is_question_aside = true;
  question_.clear();  // it is asked again
  return input_keys(line);
}

std::vector<Key> PlainSurface::keys_for_question(const ChatState& state, std::string_view line) {
  if (!can_be_answered(state)) {
    if (!trimmed(line).empty())
      complaint_ = "not taken, as it was typed before the question could be read: " + on_one_line(line);
    question_.clear();  // it is asked again
    return {};
  }
  const Question& question = state.dialog.waiting.front();
  if (const auto word = command_word(trimmed(line)); !word.empty()) {
    complaint_ = no_command(question, word);
    return {};
  }
  auto keys = answer_keys(question, line);
  if (keys.empty()) {
    complaint_ = "that was no answer: " + how_to_answer(question);
  } else {
    question_.clear();
  }
  return keys;
}

bool PlainSurface::can_be_answered(const ChatState& state) const {
  return state.dialog.waiting.front().id == question_ && is_ready(state.dialog, state.now);
}

void PlainSurface::interrupt(const ChatState& state) {
  typed_.clear();
  if (state.is_running)
    for (const Question& question : state.dialog.waiting) stopped_.insert(question.id);
  was_interrupted_ = true;
}

std::string PlainSurface::take_unended() { return to_utf8(trimmed(std::exchange(typed_, {}))); }

void PlainSurface::start_over() {
  question_.clear();
  is_prompted_ = false;
}

std::string PlainSurface::draw(const std::vector<Line>& finished, ChatState& state) {
  std::string text;
  const auto write = [this, &text](const std::vector<Line>& lines) {
    for (const auto& line : lines) text += to_terminal(line, style_) + "\n";
  };
  write(finished);
  if (const std::string complaint = std::exchange(complaint_, {}); !complaint.empty())
    write(wrapped(line_of(complaint, Tone::bad), columns_of(state)));
  const bool was_interrupted = std::exchange(was_interrupted_, false);
  if (was_interrupted && !state.notice.text.empty())
    write(wrapped(line_of(state.notice.text, Tone::faint), columns_of(state)));
  if (was_interrupted || (!text.empty() && is_prompted_)) text.insert(0, "\n");
  if (!text.empty()) is_prompted_ = false;
  if (is_left_ || (is_open(state.dialog) && stopped_.contains(state.dialog.waiting.front().id))) return text;
  if (is_open(state.dialog)) {
    const std::string& id = state.dialog.waiting.front().id;
    if (id != question_) {
      if (!is_ready(state.dialog, state.now)) return text;
      if (std::exchange(is_prompted_, false)) text += "\n";
      question_ = id;
      settled_at_.reset();
      has_asked_ = true;
      typed_.clear();
      state.dialog.readable.clear();
      write(view_of(state.dialog, state.now, columns_of(state), kRows).lines);
    }
    if (!std::exchange(is_prompted_, true)) text += "answer: ";
    return text;
  }
  if (!question_.empty() && !settled_at_) settled_at_ = state.now;
  if (!state.is_running && !std::exchange(is_prompted_, true)) {
    text += "> ";
    question_.clear();
  }
  return text;
}

}  // namespace deputy
