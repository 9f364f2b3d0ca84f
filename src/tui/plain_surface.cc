#include "tui/plain_surface.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kColumns = 10'000;  // the terminal wraps by itself
constexpr std::size_t kRows = std::numeric_limits<std::size_t>::max();
// Whoever types an answer has not read yet that it is not waited for any more.
constexpr auto kStillAnswering = std::chrono::seconds(2);
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

// "y", "n because …", "2", or an answer in words.
std::vector<Key> answer_keys(const Question& question, std::string_view line) {
  const std::string text(trimmed(line));
  if (text.empty()) return {};
  if (question.kind == QuestionKind::permission) return approval_keys(question, text);
  for (std::size_t at = 0; at < question.suggestions.size(); ++at) {
    if (text == std::string(1, key_of_suggestion(at))) return {{KeyName::text, text}};
  }
  return {{KeyName::text, "w"}, {KeyName::text, text}, kEnter};
}

// What would have been one.
std::string no_answer(const Question& question) {
  if (question.kind != QuestionKind::permission)
    return question.suggestions.empty() ? "that was no answer: type it in words"
                                        : "that was no answer: type a number, or your own words";
  if (question.suggestions.empty())
    return "that was no answer: type y for yes, or n for no (a reason may follow it)";
  return "that was no answer: type y for yes, s for this session, a for always, or n for no (a reason may "
         "follow it)";
}

}  // namespace

std::optional<std::vector<Key>> PlainSurface::next(const ChatState& state) {
  const std::size_t end = typed_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string line = to_utf8(typed_.substr(0, end));
  typed_.erase(0, end + 1);
  is_prompted_ = false;
  if (!is_open(state.dialog) && !std::exchange(question_, {}).empty() &&
      (!settled_at_ || state.now - *settled_at_ < kStillAnswering)) {
    complaint_ = "not taken, as what was asked was settled meanwhile: " + on_one_line(line);
    return std::vector<Key>{};
  }
  if (is_open(state.dialog)) {
    const Question& question = state.dialog.waiting.front();
    const bool is_written = question.id == question_;
    auto keys = is_written ? answer_keys(question, line) : std::vector<Key>{};
    if (!is_written || !is_ready(state.dialog, state.now)) {
      if (!trimmed(line).empty())
        complaint_ = "not taken, as it was typed before the question could be read: " + on_one_line(line);
      question_.clear();  // it is asked again
    } else if (keys.empty()) {
      complaint_ = no_answer(question);
    } else {
      question_.clear();
    }
    return keys;
  }
  return std::vector<Key>{{KeyName::paste, line}, kEnter};
}

std::string PlainSurface::take_unended() { return to_utf8(trimmed(std::exchange(typed_, {}))); }

void PlainSurface::start_over() {
  question_.clear();
  is_prompted_ = false;
}

std::string PlainSurface::draw(const std::vector<Line>& finished, ChatState& state) {
  std::string text;
  for (const auto& line : finished) text += to_terminal(line, style_) + "\n";
  if (const std::string complaint = std::exchange(complaint_, {}); !complaint.empty())
    text += to_terminal(line_of(complaint, Tone::bad), style_) + "\n";
  if (!text.empty() && is_prompted_) text.insert(0, "\n");
  if (!text.empty()) is_prompted_ = false;
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
      for (const auto& line : view_of(state.dialog, state.now, kColumns, kRows).lines)
        text += to_terminal(line, style_) + "\n";
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
