// What the calls of a recorded tree came to, by where they stood, and a tool that comes to it again without
// doing anything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/replay_course.h"
#include "app/replay_places.h"
#include "tools/tool.h"
#include "transcript/event.h"

namespace deputy {

// Its times are those of the replay's clock (replay_moments.h).
struct RecordedCall {
  std::optional<CallStarted> intent;
  std::optional<Question> permission;  // that was asked for
  struct Answered {
    Answer answer;
    TimePoint at{};
    std::size_t event = 0;
  };
  std::map<QuestionKind, Answered> answers;  // to that, and to what the call itself asked
  QuestionKind asked_last = QuestionKind::permission;
  std::vector<Fact> traces;  // what the tool recorded while it ran
  std::optional<ToolResult> result;
  TimePoint ended_at{};
  std::size_t event = 0;                               // that tells the result
  std::vector<std::pair<TimePoint, Fact>> afterwards;  // what a command that went on recorded later
};

class RecordedCalls {
 public:
  RecordedCalls() = default;
  explicit RecordedCalls(const std::vector<Event>& events);
  const RecordedCall* find(const std::string& place, int run, int step, int call) const;

 private:
  std::map<std::tuple<std::string, int, int, int>, RecordedCall> calls_;
};

// What it does to a child the runtime does again. `calls`, `told`, what a program of now has said of them
// before another took the tree up, `places`, where the sessions of now stand, and `course` outlive it.
// `translated` puts ids of now for those of then.
std::shared_ptr<Tool> replayed_tool(std::shared_ptr<Tool> tool, const RecordedCalls& calls,
                                    const RecordedCalls& told, const Places& places, Course& course,
                                    std::function<std::string(std::string_view)> translated);

}  // namespace deputy
