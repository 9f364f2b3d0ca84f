// What somebody asks the person: an approval, with exactly what will run and who asks, or a question with its
// suggestions as choices. One at a time, the oldest first. Pure: keys in, an answer out. A key that was typed
// before the question could be read never answers it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "transcript/question.h"
#include "tui/input_line.h"
#include "tui/line.h"

namespace deputy {

// For how long an approval holds.
enum class ApprovalScope { once, session, always };

struct DialogAnswer {
  Question question;
  Answer answer;
  ApprovalScope scope = ApprovalScope::once;
};

struct Dialog {
  std::deque<Question> waiting;  // the first is on the screen
  std::optional<TimePoint> shown_at;
  std::size_t chosen = 0;
  bool is_writing = false;  // a reason, or an answer in the person's own words
  InputLine words;
  std::set<std::string> told_whole;  // the ids of those whose text went into the scrollback
  std::string readable;              // the id of the one that the terminal has taken
  bool is_ascii = false;             // all that the terminal shows
};

inline constexpr auto kTooSoon = std::chrono::milliseconds(400);

// What chooses it: 1 to 9, and 0 for the tenth, the last there may be.
char key_of_suggestion(std::size_t at);

void ask(Dialog& dialog, Question question, TimePoint now);
// It was answered, or nobody needs the answer any more.
void settle(Dialog& dialog, const std::string& question_id, TimePoint now);
inline bool is_open(const Dialog& dialog) { return !dialog.waiting.empty(); }
// The terminal took it, or not all of it: keys count only some time after the question could be read.
void show(Dialog& dialog, TimePoint now);
void hide_unread(Dialog& dialog);
// Others had the screen: no key counts until it was shown again.
void hide(Dialog& dialog);
// Whether keys count yet.
bool is_ready(const Dialog& dialog, TimePoint now);

// Every key belongs to the question while one is open.
std::optional<DialogAnswer> on_key(Dialog& dialog, const Key& key, TimePoint now);

// The question with all of its text, for the scrollback, where the rows of the screen cannot show it: once.
// Nobody should approve what they cannot see, so no key counts before it can be read there.
std::vector<Line> take_what_is_cut(Dialog& dialog, TimePoint now, std::size_t columns, std::size_t rows);

// Who asks what, on one line: for while the person is at something else.
Line in_short(const Dialog& dialog);

struct DialogView {
  std::vector<Line> lines;
  std::optional<std::size_t> cursor_row;  // where the person writes
  std::size_t cursor_column = 0;
};
DialogView view_of(const Dialog& dialog, TimePoint now, std::size_t columns, std::size_t rows);

}  // namespace deputy
