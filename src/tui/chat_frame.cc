#include "tui/chat_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "base/display.h"
#include "base/text.h"
#include "tui/markdown.h"

namespace deputy {
namespace {

constexpr std::size_t kMostInputRows = 8;
constexpr std::size_t kMostTreeRows = 12;
constexpr std::size_t kMostChoices = 8;
constexpr std::size_t kNarrow = 60;
constexpr std::size_t kHighScreen = 16;
constexpr std::size_t kLeastFigures = 20;  // columns that are left for them beside the keys
constexpr std::size_t kMostStatusRows = 3;
constexpr std::size_t kMostHeardBytes = 16UL * 1024;  // more than a screen shows
constexpr std::string_view kPrompt = "❯ ";
constexpr std::string_view kNudgePrompt = "to it ❯ ";
constexpr std::string_view kAnswerPrompt = "answer ❯ ";

std::string_view prompt_of(Typing typing) {
  return typing == Typing::nudge ? kNudgePrompt : typing == Typing::answer ? kAnswerPrompt : kPrompt;
}

void add_all(std::vector<Line>& lines, std::vector<Line> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Line> last_of(std::vector<Line> lines, std::size_t rows) {
  if (lines.size() > rows) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(rows));
  return lines;
}

// What is said just now and not yet whole.
std::vector<Line> reply_lines(const ChatState& state, std::size_t columns, std::size_t rows) {
  const std::string_view rest = std::string_view(state.reply.text).substr(state.reply.printed);
  if (trimmed(rest).empty()) return {};
  return last_of(markdown_lines(rest, columns), rows);
}

// What the chosen child is just saying, or the end of it.
std::vector<Line> heard_lines(const ChatState& state) {
  const auto heard = state.heard.find(*state.chosen);
  if (heard == state.heard.end()) return {};
  std::string_view text = heard->second.text;
  if (text.size() > kMostHeardBytes) text.remove_prefix(text.size() - kMostHeardBytes);
  return lines_of_text(to_utf8(text));
}

// The last rows of what the chosen child did and says, or those before them where somebody reads back.
std::vector<Line> followed_lines(const ChatState& state, std::size_t columns, std::size_t rows) {
  std::deque<Line> lines;
  const auto has_enough = [&] { return lines.size() >= rows + state.scrolled; };
  const auto add_above = [&](const auto& more) {
    for (auto line = more.rbegin(); line != more.rend() && !has_enough(); ++line) {
      auto parts = wrapped(followed_line(*line), columns, kFollowedMark);
      lines.insert(lines.begin(), std::make_move_iterator(parts.begin()),
                   std::make_move_iterator(parts.end()));
    }
  };
  if (state.scrolled == 0) add_above(heard_lines(state));
  if (const auto log = state.logs.find(*state.chosen); log != state.logs.end()) add_above(log->second);
  const std::size_t shown = std::min(rows, lines.size());
  const std::size_t end = lines.size() - std::min(state.scrolled, lines.size() - shown);
  return {lines.begin() + static_cast<std::ptrdiff_t>(end - shown),
          lines.begin() + static_cast<std::ptrdiff_t>(end)};
}

// What the command that is looked at prints: the root's, or that of the child that is chosen.
std::vector<Line> printed_lines(const ChatState& state, std::size_t columns, std::size_t rows) {
  const auto printed = state.printed.find(state.chosen.value_or(state.root));
  if (printed == state.printed.end()) return {};
  std::vector<Line> lines;
  for (Line line : printed->second) {
    line.insert(line.begin(), {"  │ ", Tone::faint});
    lines.push_back(cut(line, columns));
  }
  return last_of(std::move(lines), rows);
}

using Keys = std::vector<std::string_view>;

// A question shows its own choices, each with its letter.
Keys keys_at_question(const ChatState& state) {
  if (!is_ready(state.dialog, state.now)) return {};
  const Question& question = state.dialog.waiting.front();
  const bool is_permission = question.kind == QuestionKind::permission;
  if (!state.dialog.is_writing) {
    Keys keys;
    if (is_permission || !question.suggestions.empty()) keys.emplace_back("↑↓ Enter choose");
    if (can_turn_to_children(state)) keys.emplace_back("Tab: children");
    return keys;
  }
  if (is_permission) return {"Enter declines", "Esc back"};
  if (trimmed(state.dialog.words.text).empty()) return {"Esc back"};
  return {"Enter answers", "Esc back"};
}

// While something is typed for the child.
Keys keys_for_words(const ChatState& state, const TreeNode* node) {
  if (state.typing == Typing::nudge && node && !node->has_ended) return {"Enter nudges it", "Esc back"};
  if (state.typing == Typing::answer && node && node->question == state.answering)
    return {"Enter answers it in its parent's place", "Esc back"};
  return {"Esc back"};
}

Keys keys_for_child(const ChatState& state) {
  const TreeNode* node = find_node(state.tree, *state.chosen);
  if (state.typing != Typing::input) return keys_for_words(state, state.is_running ? node : nullptr);
  const bool is_at_work = state.is_running && node && !node->has_ended;
  const bool asks = is_at_work && !node->question.empty();
  if (state.scrolled > 0 && !asks) return {"PgUp PgDn scroll", "Esc back"};
  Keys keys;
  if (asks) {
    keys.emplace_back("a answer");
  } else if (shown_rows(state).size() > 1) {
    keys.emplace_back("↑↓ choose");
  }
  if (is_at_work) {
    keys.emplace_back("n nudge");
    if (can_go_to_background(*node)) keys.emplace_back("b background");
    keys.emplace_back("c cancel");
  } else if (const auto log = state.logs.find(*state.chosen);
             log != state.logs.end() && log->second.size() > page_of(state)) {
    keys.emplace_back("PgUp scroll");
  }
  keys.emplace_back("Esc back");
  return keys;
}

Keys keys_for_line(const ChatState& state) {
  if (state.completion.choices.size() > 1) return {"Tab takes it", "↑↓ choose", "Esc closes"};
  if (state.completion.is_open()) return {"Tab takes it", "Esc closes"};
  const bool is_empty = state.input.text.empty();
  if (is_empty && !state.is_running) return {"/help"};
  Keys keys;
  if (!is_empty) {
    keys.emplace_back("Enter sends");
  } else if (!shown_rows(state).empty()) {
    keys.emplace_back("Tab: children");
  }
  if (is_open(state.dialog)) keys.emplace_back("Esc: the question");
  if (state.is_running) keys.emplace_back("Ctrl-C cancels");
  return keys;
}

// What can be done now, and nothing else.
Keys keys_of(const ChatState& state) {
  if (question_has_keys(state)) return keys_at_question(state);
  return state.chosen ? keys_for_child(state) : keys_for_line(state);
}

// What there is to say until the next key, or the keys, each with its word.
std::vector<Line> hint_lines(const ChatState& state, std::size_t columns) {
  if (!state.notice.text.empty()) return wrapped(line_of(state.notice.text, Tone::doubtful), columns);
  std::vector<std::string> rows{""};
  for (const std::string_view key : keys_of(state)) {
    const std::size_t taken = display_width(rows.back());
    if (taken > 0 && taken + 2 + display_width(key) > columns) rows.emplace_back();
    if (!rows.back().empty()) rows.back() += "  ";
    rows.back() += key;
  }
  std::vector<Line> lines;
  for (const std::string& row : rows) lines.push_back(line_of(row, Tone::faint));
  return lines;
}

// What is said of the session, in its order on the line. Where not all of it fits, what counts least goes
// first: the lower the rank, the longer it stays.
struct Figure {
  int rank;
  std::string text;
};

std::vector<Figure> figures_of(const ChatState& state) {
  std::vector<Figure> figures{{1, state.model.name}};
  if (state.model.window > 0 && state.context > 0)
    figures.push_back({2, fmt::format("context {}%", std::min<std::int64_t>(
                                                         100, state.context * 100 / state.model.window))});
  const Usage usage = usage_of(state.tree);
  if (usage.input + usage.output > 0) {
    figures.push_back({5, tokens_text(usage)});
    if (auto cost = cost_text(usage); !cost.empty()) figures.push_back({4, std::move(cost)});
  }
  const auto rows = shown_rows(state);
  const auto live = std::ranges::count_if(rows, [](const TreeRow& row) { return !row.node->has_ended; });
  if (live > 0) figures.push_back({3, fmt::format("{} {}", live, live == 1 ? "child" : "children")});
  return figures;
}

Line line_of_figures(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) text += (text.empty() ? "" : " · ") + figure.text;
  return line_of(text, Tone::faint);
}

Line fitting_figures(const ChatState& state, std::size_t columns) {
  auto figures = figures_of(state);
  const auto is_too_wide = [&] { return width_of(line_of_figures(figures)) > columns; };
  std::string& model = figures.front().text;
  if (is_too_wide()) model.erase(0, model.find('/') + 1);  // whose it is can be asked for
  while (figures.size() > 1 && is_too_wide())
    figures.erase(std::ranges::max_element(figures, {}, &Figure::rank));
  return cut(line_of_figures(figures), columns);
}

// One line where both have room on it; else the keys, or what there is to say, stand below the figures, or in
// their place where a question needs the rows.
std::vector<Line> status_lines(const ChatState& state, std::size_t columns, std::size_t rows) {
  auto hints = hint_lines(state, columns);
  const std::size_t taken = width_of(hints.front()) + 2;
  const bool has_room = columns >= kNarrow && hints.size() == 1 && taken + kLeastFigures <= columns;
  if (has_room) return {justified(fitting_figures(state, columns - taken), hints.front(), columns)};
  if (question_has_keys(state)) {
    if (!state.notice.text.empty()) return {cut(line_of(state.notice.text, Tone::doubtful), columns)};
    return {width_of(hints.front()) > 0 ? hints.front() : fitting_figures(state, columns)};
  }
  std::vector<Line> lines;
  if (hints.size() < rows) lines.push_back(fitting_figures(state, columns));
  hints.resize(std::min(hints.size(), rows));
  add_all(lines, std::move(hints));
  return lines;
}

std::vector<Line> queued_lines(const ChatState& state, std::size_t columns) {
  std::vector<Line> lines;
  for (const auto& text : state.queued)
    lines.push_back(cut(line_of("  next: " + on_one_line(text), Tone::faint), columns));
  return lines;
}

// How long the call that it shows has taken, or all of it where it shows none.
Line working_line(const ChatState& state) {
  const TreeNode* root = find_node(state.tree, state.root);
  WallTime since = state.run_started_at;
  if (root) {
    for (const auto& [index, call] : root->calls)
      if (call.shown == root->activity) since = call.started_at;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(state.wall - since);
  Line line{{"→ ", Tone::accent}};
  line.push_back({!root ? "started" : root->is_thinking ? "thinking" : root->activity, Tone::plain});
  if (seconds >= std::chrono::seconds(1)) line.push_back({"  " + to_text(Duration(seconds)), Tone::faint});
  return line;
}

// The rows that each part gets, most important first.
struct Room {
  std::size_t left;
  std::size_t take(std::size_t wanted) {
    const std::size_t given = std::min(wanted, left);
    left -= given;
    return given;
  }
};

// Who follows a child still sees what was said last; and of a frame as high as the screen a window that
// becomes smaller pushes off more rows than come back with its size (live_region.h). A low screen has none
// to spare.
std::size_t rows_kept(const ChatState& state) {
  const std::size_t rows = rows_of(state);
  return rows >= kHighScreen ? rows / 4 : 0;
}

struct Layout {
  Frame frame;
  std::size_t rows_to_follow = 0;  // that are left for what the chosen child did
};

Layout layout_of(const ChatState& state) {
  const std::size_t columns = columns_of(state);
  // One row is kept for it anyway; the line that is typed needs another.
  auto status = status_lines(state, columns, std::min(kMostStatusRows, rows_of(state)));
  Room room{rows_of(state) + 1 - status.size()};

  Layout layout;
  Frame& frame = layout.frame;
  std::vector<Line> below;
  std::size_t cursor_row = 0;
  if (question_has_keys(state)) {
    auto dialog = view_of(state.dialog, state.now, columns, room.left);
    // On a very small screen what is typed stays in sight; what is asked stands above.
    const std::size_t hidden = dialog.lines.size() - std::min(dialog.lines.size(), room.left);
    if (dialog.cursor_row) {
      below = last_of(std::move(dialog.lines), room.left);
      cursor_row = *dialog.cursor_row - hidden;
      frame.cursor_column = dialog.cursor_column;
    } else {
      below = std::move(dialog.lines);
      below.resize(below.size() - hidden);
      cursor_row = below.empty() ? 0 : below.size() - 1;
    }
    room.take(below.size());
  } else {
    if (is_open(state.dialog) && room.left > 1) {
      below.push_back(cut(in_short(state.dialog), columns));
      room.take(1);
    }
    auto input = view_of(state.input, prompt_of(state.typing), columns, std::min(kMostInputRows, room.left));
    room.take(input.lines.size());
    cursor_row = below.size() + input.cursor_row;
    frame.cursor_column = input.cursor_column;
    add_all(below, std::move(input.lines));
    auto choices = lines_of(state.completion, columns, std::min(kMostChoices, room.left));
    room.take(choices.size());
    add_all(below, std::move(choices));
  }

  std::vector<Line> above;
  // What children did can be read also when all has ended.
  if ((state.is_running || state.chosen) && room.left > 0) {
    if (state.is_running) room.take(1);
    auto queued = queued_lines(state, columns);
    queued.resize(std::min(queued.size(), room.take(queued.size())));
    // Where a child is followed, what it did has half of a low screen, and all where somebody reads back.
    const std::size_t most_tree_rows = state.chosen ? (room.left + 1) / 2 : room.left;
    auto tree = tree_lines(state.tree, state.root,
                           {.columns = columns,
                            .rows = std::min(kMostTreeRows, most_tree_rows),
                            .now = state.wall,
                            .since = state.run_started_at,
                            .chosen = state.chosen});
    room.take(tree.size());
    const std::size_t most_printed_rows = !state.chosen ? room.left : state.scrolled > 0 ? 0 : room.left / 2;
    auto printed = printed_lines(state, columns, most_printed_rows);
    room.take(printed.size());
    // Many children, and what is printed, may leave few: no more are kept free than are shown.
    layout.rows_to_follow = state.chosen ? room.left - std::min(room.left / 2, rows_kept(state)) : 0;
    auto said = state.chosen ? followed_lines(state, columns, layout.rows_to_follow)
                             : reply_lines(state, columns, room.left);
    above = std::move(said);
    if (state.chosen) add_all(above, std::exchange(printed, {}));
    if (state.is_running) above.push_back(cut(working_line(state), columns));
    add_all(above, std::move(printed));
    add_all(above, std::move(tree));
    add_all(above, std::move(queued));
  }
  frame.lines = std::move(above);
  frame.cursor_row = frame.lines.size() + cursor_row;
  add_all(frame.lines, std::move(below));
  add_all(frame.lines, std::move(status));
  return layout;
}

}  // namespace

FollowedRows rows_followed(const ChatState& state) {
  FollowedRows rows;
  if (!state.chosen) return rows;
  const auto add = [&](const auto& lines) {
    for (const Line& line : lines)
      rows.all += wrapped(followed_line(line), columns_of(state), kFollowedMark).size();
  };
  if (const auto log = state.logs.find(*state.chosen); log != state.logs.end()) add(log->second);
  if (state.scrolled == 0) add(heard_lines(state));
  rows.shown = layout_of(state).rows_to_follow;
  return rows;
}

Frame frame_of(const ChatState& state) { return layout_of(state).frame; }

}  // namespace deputy
