#include "tui/dialog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "tui/markdown.h"
#include "tui/style.h"

namespace deputy {
namespace {

constexpr std::size_t kMostRowsOfWords = 3;

struct Choice {
  char key;
  std::string text;
  ApprovalScope scope = ApprovalScope::once;
};

// The rule that an approval for longer would make, where there is one.
std::string rule_of(const Question& question) {
  return question.suggestions.empty() ? "" : question.suggestions.front();
}

std::vector<Choice> choices_of(const Question& question) {
  std::vector<Choice> choices;
  if (question.kind != QuestionKind::permission) {
    for (const auto& suggestion : question.suggestions) {
      choices.push_back({key_of_suggestion(choices.size()), suggestion});
    }
    choices.push_back({'w', "in my own words"});
    return choices;
  }
  choices.push_back({'y', "yes, once"});
  if (const std::string rule = rule_of(question); !rule.empty()) {
    choices.push_back({'s', fmt::format("yes, for this session: {}", rule), ApprovalScope::session});
    choices.push_back(
        {'a', fmt::format("always: {} (writes the rule to your settings)", rule), ApprovalScope::always});
  }
  choices.push_back({'n', "no, with a reason if you like"});
  return choices;
}

DialogAnswer answered(Dialog& dialog, Answer answer, ApprovalScope scope, TimePoint now) {
  DialogAnswer given{dialog.waiting.front(), std::move(answer), scope};
  settle(dialog, given.question.id, now);
  return given;
}

std::optional<DialogAnswer> take_choice(Dialog& dialog, std::size_t which, TimePoint now) {
  const Question& question = dialog.waiting.front();
  const auto choices = choices_of(question);
  dialog.chosen = which;
  if (which + 1 == choices.size()) {  // the last one is always said in words
    dialog.is_writing = true;
    return std::nullopt;
  }
  if (question.kind != QuestionKind::permission)
    return answered(dialog, {AnswerKind::text, question.suggestions[which]}, ApprovalScope::once, now);
  return answered(dialog, {AnswerKind::approved, ""}, choices[which].scope, now);
}

std::optional<DialogAnswer> on_written(Dialog& dialog, const Key& key, TimePoint now) {
  const bool is_permission = dialog.waiting.front().kind == QuestionKind::permission;
  if (key.name == KeyName::escape) {
    dialog.is_writing = false;
    return std::nullopt;
  }
  if (key.name != KeyName::enter) {
    edit(dialog.words, key);
    return std::nullopt;
  }
  const std::string words(trimmed(dialog.words.text));
  if (words.empty() && !is_permission) return std::nullopt;
  return answered(dialog, {is_permission ? AnswerKind::refused : AnswerKind::text, words},
                  ApprovalScope::once, now);
}

void add_all(std::vector<Line>& lines, std::vector<Line> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Exactly what is approved, whatever the terminal shows.
std::string exactly(const Dialog& dialog, const std::string& text) {
  return dialog.is_ascii ? spelled_in_ascii(text) : text;
}

Line heading_of(const Dialog& dialog) {
  const Question& question = dialog.waiting.front();
  const std::string who = exactly(dialog, question.label.empty() ? question.agent : question.label);
  Line line = line_of(fmt::format("[{}]", who), Tone::strong);
  line.push_back(
      {question.kind == QuestionKind::permission ? " asks for approval" : " asks", Tone::doubtful});
  if (dialog.waiting.size() > 1)
    line.push_back({fmt::format("  ({} more waiting)", dialog.waiting.size() - 1), Tone::faint});
  return line;
}

std::vector<Line> body_of(const Dialog& dialog, std::size_t columns) {
  const Question& question = dialog.waiting.front();
  std::vector<Line> lines;
  for (const auto& line : lines_of_text(exactly(dialog, question.text))) {
    Line toned = question.kind == QuestionKind::permission ? diff_line(plain_text(line)) : line;
    toned.insert(toned.begin(), {"  ", Tone::plain});
    // Of what is approved no line of its own may pass for the rest of the one above it.
    add_all(lines, wrapped(toned, columns, question.kind == QuestionKind::permission ? "\\ " : "    "));
  }
  return lines;
}

std::vector<Line> lines_of_choices(const Dialog& dialog, std::size_t columns) {
  std::vector<Line> lines;
  const auto choices = choices_of(dialog.waiting.front());
  for (std::size_t at = 0; at < choices.size(); ++at) {
    const bool is_chosen = at == dialog.chosen;
    Line line{{is_chosen ? "❯ " : "  ", Tone::accent}, {fmt::format("({}) ", choices[at].key), Tone::accent}};
    const Line text = line_of(exactly(dialog, choices[at].text), is_chosen ? Tone::chosen : Tone::plain);
    line.insert(line.end(), text.begin(), text.end());
    add_all(lines, wrapped(line, columns, "      "));  // a rule must be seen whole
  }
  return lines;
}

// Beside the heading, the choices and a line for words.
std::size_t rows_for_body(const Dialog& dialog, std::size_t columns, std::size_t rows) {
  const std::size_t others = lines_of_choices(dialog, columns).size() + 2;
  return rows > others ? rows - others : 0;
}

std::vector<Line> told_of_hidden(std::size_t lines, std::size_t columns, bool is_told) {
  const std::string notice = fmt::format("  (… {} more lines: {} …)", lines,
                                         is_told ? "all of it stands above" : "any key shows them");
  return wrapped({{notice, Tone::bad}}, columns, "   ");
}

// Its beginning and its end, where there is no room for all of it.
std::vector<Line> cut_body(std::vector<Line> lines, std::size_t columns, std::size_t rows, bool is_told) {
  if (lines.size() <= rows) return lines;
  const std::size_t room = rows - std::min(rows, told_of_hidden(lines.size(), columns, is_told).size());
  const std::size_t hidden = lines.size() - room;
  const std::size_t head = room / 2;
  const auto at = [&lines](std::size_t index) { return lines.begin() + static_cast<std::ptrdiff_t>(index); };
  lines.erase(at(head), at(head + hidden));
  const auto notice = told_of_hidden(hidden, columns, is_told);
  lines.insert(at(head), notice.begin(), notice.end());
  return lines;
}

}  // namespace

char key_of_suggestion(std::size_t at) { return at < 9 ? static_cast<char>('1' + at) : '0'; }

void ask(Dialog& dialog, Question question, TimePoint now) {
  if (dialog.waiting.empty()) dialog.shown_at = now;
  dialog.waiting.push_back(std::move(question));
}

void settle(Dialog& dialog, const std::string& question_id, TimePoint now) {
  const bool was_shown = !dialog.waiting.empty() && dialog.waiting.front().id == question_id;
  std::erase_if(dialog.waiting, [&](const Question& question) { return question.id == question_id; });
  if (!was_shown) return;
  dialog.shown_at = now;
  dialog.chosen = 0;
  dialog.is_writing = false;
  dialog.words = {};
}

void show(Dialog& dialog, TimePoint now) {
  dialog.readable = dialog.waiting.front().id;
  if (!dialog.shown_at) dialog.shown_at = now;
}

void hide_unread(Dialog& dialog) {
  if (is_open(dialog) && dialog.readable != dialog.waiting.front().id) dialog.shown_at.reset();
}

void hide(Dialog& dialog) {
  dialog.readable.clear();
  dialog.shown_at.reset();
}

bool is_ready(const Dialog& dialog, TimePoint now) {
  return dialog.shown_at && now - *dialog.shown_at >= kTooSoon;
}

std::optional<DialogAnswer> on_key(Dialog& dialog, const Key& key, TimePoint now) {
  if (!is_open(dialog)) return std::nullopt;
  if (!is_ready(dialog, now)) {
    if (dialog.shown_at) dialog.shown_at = now;  // who types on has not read it
    return std::nullopt;
  }
  if (dialog.is_writing) return on_written(dialog, key, now);
  const auto choices = choices_of(dialog.waiting.front());
  switch (key.name) {
    case KeyName::up:
      dialog.chosen = dialog.chosen == 0 ? choices.size() - 1 : dialog.chosen - 1;
      return std::nullopt;
    case KeyName::down:
    case KeyName::tab:
      dialog.chosen = (dialog.chosen + 1) % choices.size();
      return std::nullopt;
    case KeyName::enter:
      return take_choice(dialog, dialog.chosen, now);
    case KeyName::text:
    case KeyName::paste:
      break;
    default:
      return std::nullopt;
  }
  const auto meant = std::ranges::find_if(choices, [&](const Choice& choice) {
    return key.name == KeyName::text && key.text == std::string(1, choice.key);
  });
  if (meant == choices.end()) {
    if (dialog.waiting.front().kind == QuestionKind::permission) {
      dialog.shown_at = now;  // of words that somebody types no letter chooses
      return std::nullopt;
    }
    dialog.chosen = choices.size() - 1;  // an answer that is typed is one
    dialog.is_writing = true;
    return on_written(dialog, key, now);
  }
  const auto which = static_cast<std::size_t>(meant - choices.begin());
  if (meant->scope == ApprovalScope::once) return take_choice(dialog, which, now);
  dialog.chosen = which;  // for longer than this call not by one letter: Enter takes it
  return std::nullopt;
}

std::vector<Line> take_what_is_cut(Dialog& dialog, TimePoint now, std::size_t columns, std::size_t rows) {
  if (!is_open(dialog) || dialog.told_whole.contains(dialog.waiting.front().id)) return {};
  const Question& question = dialog.waiting.front();
  auto body = body_of(dialog, columns);
  if (body.size() <= rows_for_body(dialog, columns, rows)) return {};
  dialog.told_whole.insert(question.id);
  dialog.shown_at = now;
  dialog.readable.clear();
  std::vector<Line> lines{cut(heading_of(dialog), columns)};
  add_all(lines, std::move(body));
  return lines;
}

Line in_short(const Dialog& dialog) {
  Line line = heading_of(dialog);
  const Line text = line_of(": " + on_one_line(exactly(dialog, dialog.waiting.front().text)));
  line.insert(line.end(), text.begin(), text.end());
  return line;
}

DialogView view_of(const Dialog& dialog, TimePoint now, std::size_t columns, std::size_t rows) {
  DialogView view;
  if (!is_open(dialog)) return view;
  const Question& question = dialog.waiting.front();
  view.lines.push_back(cut(heading_of(dialog), columns));
  const std::size_t room = std::max<std::size_t>(3, rows_for_body(dialog, columns, rows));
  add_all(view.lines,
          cut_body(body_of(dialog, columns), columns, room, dialog.told_whole.contains(question.id)));
  if (!is_ready(dialog, now)) return view;
  if (!dialog.is_writing) {
    add_all(view.lines, lines_of_choices(dialog, columns));
    return view;
  }
  const bool is_permission = question.kind == QuestionKind::permission;
  const std::size_t left = rows - std::min(rows, view.lines.size());
  const auto words = view_of(dialog.words, is_permission ? "reason: " : "answer: ", columns,
                             std::clamp<std::size_t>(left, 1, kMostRowsOfWords));
  view.cursor_row = view.lines.size() + words.cursor_row;
  view.cursor_column = words.cursor_column;
  add_all(view.lines, words.lines);
  return view;
}

}  // namespace deputy
