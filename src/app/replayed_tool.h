// What the calls of a recorded tree came to, by where they stood, and a tool that comes to it again without
// doing anything. A session is known by its place: the chain of calls that made it, the same in every run of
// the tree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/replay_course.h"
#include "store/memory_store.h"
#include "tools/tool.h"
#include "transcript/event.h"

namespace deputy {

// "root", "root/1.0.2.0": of the root's first run, step 0, call 2, task 0.
std::map<SessionId, std::string> places_in(const std::vector<Event>& events);
std::string place_of(const SessionId& id, const std::map<SessionId, Session>& sessions);

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
// before another took the tree up, `memory`, the sessions that there are now, and `course` outlive it.
// `translated` puts ids of now for those of then.
std::shared_ptr<Tool> replayed_tool(std::shared_ptr<Tool> tool, const RecordedCalls& calls,
                                    const RecordedCalls& told, const MemoryStore::Memory& memory,
                                    Course& course, std::function<std::string(std::string)> translated);

}  // namespace deputy
