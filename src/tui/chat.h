// The interactive interface as a value. Events, keys, pieces of a reply and the passing of time go in; what
// is shown and what is to be done come out. Nothing here has an effect: no terminal, no clock, no runtime.
//
// What is finished leaves through `out`, line by line, and becomes part of the terminal's own scrollback;
// what still changes is the frame below it (chat_frame.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/redaction.h"
#include "transcript/event.h"
#include "tui/completion.h"
#include "tui/dialog.h"
#include "tui/input_line.h"
#include "tui/line.h"
#include "tui/tree_view.h"

namespace deputy {

// What the person wants done.
struct SubmitInput {
  std::string text;
};
struct GiveAnswer {
  std::string question_id;
  Answer answer;
};
struct WriteRule {
  std::string rule;
};
struct CancelAll {};
struct CancelOne {
  SessionId session;
};
struct SendToBackground {
  SessionId session;
};
struct NudgeOne {
  SessionId session;
  std::string text;
};
struct ListFolder {
  std::string folder;
};
struct DoCommand {
  std::string name;  // "/model"
  std::string arguments;
};
struct LeaveChat {
  bool at_once = false;
};
struct PauseProgram {};  // Ctrl-Z
struct ClearScreen {};   // Ctrl-L
using Intent = std::variant<SubmitInput, GiveAnswer, WriteRule, CancelAll, CancelOne, SendToBackground,
                            NudgeOne, ListFolder, DoCommand, LeaveChat, PauseProgram, ClearScreen>;
using Intents = std::vector<Intent>;

// A reply that is still being said, as it may be shown.
struct ReplyStream {
  std::string text;
  std::size_t printed = 0;  // bytes of it that are in the scrollback
  std::string held;         // its end as it came, which may be the beginning of a secret
};

// What the line is for: the chat, or the child that is chosen.
enum class Typing { input, nudge, answer };

// For the status line, until the next key.
struct Notice {
  std::string text;
  SessionId about = {};  // it goes, too, once this one has ended, or has done what is said of it
};

struct ModelShown {
  std::string name;
  std::int64_t window = 0;  // 0 where it is not known
};

struct ChatState {
  // What a model says goes through it whole: once it is in lines, a secret may lie in pieces.
  const Redactor& redactor;

  // What is known from outside.
  TerminalSize size;
  TimePoint now{};
  WallTime wall{};
  ModelShown model;                      // of what runs; where nothing does, of what comes
  std::optional<ModelShown> next_model;  // chosen while something runs
  bool tells_children = false;           // where there is no tree to see: a line for each thing a child does

  SessionId root;  // empty until the first input
  bool is_running = false;
  bool only_waits = false;  // what runs has said all, and goes on when a child beside it has something to say
  std::set<std::string> unread;  // by its item: what it was told while it ran
  WallTime run_started_at{};
  std::int64_t context = 0;  // tokens that the last request and its reply held
  TreeView tree;
  ReplyStream reply;
  std::map<std::pair<int, int>, Call> calls;      // of the root's last reply, by step and index
  std::map<SessionId, std::deque<Line>> logs;     // what children did last, for who follows them
  std::map<SessionId, ReplyStream> heard;         // what they are just saying
  std::map<SessionId, std::deque<Line>> printed;  // the last lines of commands that run
  std::map<std::string, Question> questions;      // by their ids: those without an answer; no approvals

  InputLine input;
  InputCompletion completion;
  Dialog dialog;
  bool is_question_aside = false;  // while one is open: the line, or the child that is chosen, comes first
  std::optional<TimePoint> closed_at;  // when a question that could be answered was closed by others, or the
                                       // last key that may have been meant for it came
  std::optional<SessionId> chosen;     // a child that the keys go to
  std::size_t scrolled = 0;            // rows back from the end of what is followed of it
  Typing typing = Typing::input;
  std::map<SessionId, TimePoint> asked_at;  // when children asked what is still open
  std::string answering;                    // the id of the question that is meant, while an answer is typed
  std::map<SessionId, std::string>
      asked;                       // the ids of what children asked their parents when the line was begun
  std::string echoed;              // by the terminal itself: the line that was typed at the prompt
  std::deque<std::string> queued;  // typed while it ran: the next inputs, in plain lines commands too
  bool leaves_at_end = false;      // once these and what runs are done
  std::set<std::string> session_rules;
  std::map<std::string, std::string> written_rules;  // those of them for always, and the file of each
  std::optional<TimePoint> interrupted_at;
  Notice notice;

  std::vector<Line> out;     // for the scrollback, in order; take_out() empties it
  std::size_t left_out = 0;  // lines before these, which there was no room to keep
  bool is_out_blank = true;
};

Intents apply(ChatState& state, const Event& event, const EventOrigin& origin);
// Until it is answered, when both are told; it is put to nobody.
void keep_question(ChatState& state, const SessionId& asker, const Question& question);
void apply_text(ChatState& state, const SessionId& session, std::string_view text);
// Whole lines, without secrets, that a command of the session has printed while it runs; none where what it
// printed last is the beginning of one.
void apply_output(ChatState& state, const SessionId& session, std::string_view lines);
// The model sums up what the session holds: so many tokens.
void apply_summary_asked(ChatState& state, const SessionId& session, std::int64_t tokens);
// What was said of the reply is void. It is asked for again, unless that was the last attempt.
void apply_retry(ChatState& state, const SessionId& session, const Retried& retried);
Intents apply_key(ChatState& state, const Key& key);
// What comes once nothing runs any more: the first of what was queued, or to leave where that was meant.
Intents next_in_turn(ChatState& state);
// What can be said to what runs, as that only waits: the first of what was queued, where it is no command.
Intents next_while_it_waits(ChatState& state);
// The model of what comes; of what runs it stays the one that it has.
void show_model(ChatState& state, ModelShown model);
// Nothing runs any more, whether or not it has begun.
void end_running(ChatState& state);
// What a folder holds, in answer to ListFolder.
void apply_listing(ChatState& state, const std::string& folder, const std::vector<std::string>& entries);

// How wide a line of it may be.
std::size_t columns_of(const ChatState& state);
// How many there are above the status line.
std::size_t rows_of(const ChatState& state);
// By so many one scrolls at most: some of what was read stays in sight.
std::size_t page_of(const ChatState& state);

// Lines for the scrollback.
void print(ChatState& state, std::vector<Line> lines);
void print_separated(ChatState& state, std::vector<Line> lines);
// Those that there are, and that some are missing where it is so.
std::vector<Line> take_out(ChatState& state);
// The terminal took all there was: the question on it can be read.
void was_taken(ChatState& state);
// It did not: the newest kMostHeldBack lines wait, and no key answers a question that nobody can have read.
void hold_back(ChatState& state);
inline constexpr std::size_t kMostHeldBack = 10'000;
// Whether every key belongs to the question that is open.
bool question_has_keys(const ChatState& state);
// Whether Tab goes from it to the children.
bool can_turn_to_children(const ChatState& state);
// The question on the screen, where that cannot show all of it. True where it was just now that it was
// printed.
bool print_what_is_cut(ChatState& state);

// A line of what is followed of a child.
inline constexpr std::string_view kFollowedMark = "│ ";
Line followed_line(Line line);

// The children that can be chosen, in the order of the screen.
std::vector<TreeRow> shown_rows(const ChatState& state);

}  // namespace deputy
