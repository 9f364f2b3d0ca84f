// The chat as plain lines, for dumb terminals and screen readers: nothing is drawn over, a line that is typed
// stands for keys. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tui/chat.h"

namespace deputy {

class PlainSurface {
 public:
  explicit PlainSurface(Style style) : style_(style) {}

  void feed(std::string_view bytes) { typed_ += bytes; }
  // The next whole line as keys: an answer to the question that is open, else an input. A command is one also
  // while a question is open, which then waits and is asked again; one that there is not is told to be none,
  // and "//tree" answers "/tree".
  std::optional<std::vector<Key>> next(ChatState& state);
  // Ctrl-C: the terminal has dropped what was typed of a line, and left the cursor behind it. What was asked
  // is asked no more where it stops what runs.
  void interrupt(const ChatState& state);
  // No line is read any more, and none is asked for.
  void leave() { is_left_ = true; }
  // What was typed of a line that had no end.
  std::string take_unended();
  // What there is to write: finished lines, a question that can be answered now, or the prompt. A question is
  // unread again from here until was_taken().
  std::string draw(const std::vector<Line>& finished, ChatState& state);
  // Others have written on the screen: the question that is open, or the prompt, is written again.
  void start_over();
  // Whether a question was written that what was typed before cannot answer.
  bool has_asked() { return std::exchange(has_asked_, false); }

 private:
  std::vector<Key> command_keys(ChatState& state, std::string_view line);
  std::vector<Key> keys_for_question(const ChatState& state, std::string_view line);
  // Whether the question that is open was written, and long enough ago.
  bool can_be_answered(const ChatState& state) const;

  Style style_;
  std::string typed_;
  std::string question_;                 // the id of the one that was written last and not answered here
  std::optional<TimePoint> settled_at_;  // when the first frame without it was drawn
  std::set<std::string> stopped_;        // the ids of those that an interrupt has stopped
  std::string complaint_;                // of a line that was not taken for an answer
  bool is_prompted_ = false;
  bool has_asked_ = false;
  bool was_interrupted_ = false;
  bool is_left_ = false;
};

}  // namespace deputy
