#include "model/rehearsal_turn.h"

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

class Reader {
 public:
  void read(const Message& message) {
    switch (message.role) {
      case Role::user:
        return heard(message);
      case Role::assistant:
        return said(message);
      case Role::tool:
        return got(message);
    }
  }
  Turn turn() && { return std::move(turn_); }

 private:
  void heard(const Message& message) {
    if (ended_ && message.source == Source::runtime && message.text.contains("task_completion")) {
      turn_.wants_completion = true;
    } else if (ended_) {
      turn_ = Turn();
      turn_.prompt = message.text;
    } else if (!replied_) {
      // Several messages before the first reply are one brief.
      if (!turn_.prompt.empty()) turn_.prompt += "\n\n";
      turn_.prompt += message.text;
      return;
    } else if (message.source == Source::runtime) {
      turn_.report_now = turn_.report_now || lowered(message.text).contains("report");
    } else if (message.source != Source::child) {
      turn_.nudges.push_back(message.text);
    }
    if (ended_) replied_ = turn_.wants_completion;
    ended_ = false;
  }

  void said(const Message& message) {
    replied_ = true;
    ended_ = message.calls.empty();
    turn_.report_now = false;
    turn_.last_text = message.text;
    calls_ = message.calls;
  }

  void got(const Message& message) {
    for (std::size_t i = 0; i < message.results.size(); ++i) {
      const ToolResult& result = message.results[i];
      auto call = std::ranges::find(calls_, result.call_id, &Call::id);
      if (call == calls_.end() && i < calls_.size()) call = calls_.begin() + static_cast<std::ptrdiff_t>(i);
      if (call != calls_.end()) turn_.answered.push_back({*call, result});
    }
  }

  Turn turn_;
  std::vector<Call> calls_;  // of the last reply
  bool replied_ = false;     // since the turn began
  bool ended_ = false;       // the last reply had no calls
};

}  // namespace

const Answered* Turn::first_call_of(std::string_view tool) const {
  const auto found =
      std::ranges::find_if(answered, [tool](const Answered& one) { return one.call.name == tool; });
  return found == answered.end() ? nullptr : &*found;
}

Turn current_turn(std::span<const Message> messages) {
  Reader reader;
  for (const Message& message : messages) reader.read(message);
  return std::move(reader).turn();
}

}  // namespace deputy
