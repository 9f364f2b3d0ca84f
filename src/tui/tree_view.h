// The sessions of a tree as a person follows them: what each is doing, what it has used, how long it has been
// silent. A fold over events, and lines for any width. Knows no terminal and no clock.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transcript/event.h"
#include "tui/line.h"

namespace deputy {

// A call that has begun and not ended.
struct CallUnderWay {
  std::string tool;
  std::string shown;  // with its arguments in short
  WallTime started_at{};
  CallId id = {};
  std::size_t tasks = 0;  // that it hands out together
};

// "retry 1 in 3s"; where there is none, that the attempt failed.
std::string what_follows(const Retried& retried);

// A question that has no answer yet.
struct OpenQuestion {
  std::string id;
  int call = -1;
  std::string shown;
};

struct TreeNode {
  SessionId id;
  SessionId parent;
  std::optional<CallId> call = {};  // that made it, or that waits for it or let it go since; not known of
                                    // what began before this process
  std::string label;                // unlike its twins'
  std::string agent;
  std::string activity;      // what it does, or did last, or how it ended
  bool is_thinking = false;  // what it did last has ended: its model has the word
  Tone tone = Tone::plain;
  std::vector<OpenQuestion> asks;     // the oldest first
  std::string question;               // the id of the one that it waits with for its parent
  std::string tool;                   // of the call that made it, or that waits for it since
  bool is_beside = false;             // its parent goes on without it
  std::map<int, CallUnderWay> calls;  // its own
  std::map<int, std::size_t> tasks;   // of those that its last reply made
  bool has_ended = false;
  Status ended_as = Status::completed;  // where it has
  Usage usage;
  int steps = 0;
  WallTime started_at{};
  WallTime last_at{};
};

struct TreeView {
  std::vector<TreeNode> nodes;                   // parents before their children
  std::map<SessionId, std::size_t> places = {};  // where each of them is
  std::map<std::pair<SessionId, std::string>, int> labels =
      {};  // below each parent; the number of the last twin
};

void apply(TreeView& view, const Event& event, const EventOrigin& origin);
// It did something that no event tells of: a command of its printed, or it said a piece of its reply.
void keep_awake(TreeView& view, const SessionId& id, WallTime now);
const TreeNode* find_node(const TreeView& view, const SessionId& id);
TreeNode* find_node(TreeView& view, const SessionId& id);
// How many tasks of calls under way have no child yet: as many are at work as may be, and they come later.
std::size_t not_begun(const TreeView& view);
// Whether a call waits for it that goes on without it where the person says so.
bool can_go_to_background(const TreeNode& node);
// How a call ended for a person, where its result is good as one that tells of every child, and yet not all
// of them completed: some go on, or ask, or were cancelled. Nothing where they did.
struct CallEnding {
  TextSpan mark;
  std::string why;
};
std::optional<CallEnding> ending_of(const TreeView& view, const CallId& call);

// Those below `root` that have not ended before `since`, children under their parent, in the order in which
// they began.
struct TreeRow {
  const TreeNode* node = nullptr;
  int depth = 0;
};
std::vector<TreeRow> rows_below(const TreeView& view, const SessionId& root, WallTime since = {});

struct TreeLook {
  std::size_t columns = 80;
  std::size_t rows = 10;  // at most so many lines; those that have ended give way first
  WallTime now{};
  WallTime since{};  // what ended before is left out
  std::optional<SessionId> chosen = {};
};
std::vector<Line> tree_lines(const TreeView& view, const SessionId& root, const TreeLook& look);

// What became of a question: "approved", "declined", "answered" or "not answered".
std::string_view outcome_of(AnswerKind answer);

// "in=23k out=890"
std::string tokens_text(const Usage& usage);
// "$0.0123", or nothing where the price is not known.
std::string cost_text(const Usage& usage);
// Of all sessions.
Usage usage_of(const TreeView& view);

// "✓ complete", "⚠ partial: context exhausted", "✗ error: …"; without figures.
TextSpan ending_of(const Report& report);

}  // namespace deputy
