#include "app/replay_moments.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "delegation/question_ids.h"

namespace deputy {
namespace {

constexpr WallTime::duration kSoon = std::chrono::seconds(1);
constexpr WallTime::duration kCentury = std::chrono::days(36'500);

struct OpenQuestion {
  RunId asker;
  WallTime until;
};

// One that had run by then would have said at once that a question to a parent had run out of time.
std::set<std::size_t> taken_up_too_late(const std::vector<Event>& events,
                                        const std::vector<NextProgram>& programs) {
  std::set<std::size_t> found;
  std::map<std::string, OpenQuestion> open;  // to parents, by id
  for (std::size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    if (std::ranges::binary_search(programs, at, {}, &NextProgram::first)) {
      for (const auto& [id, question] : open) {
        if (believable(events[at - 1].at) < question.until && question.until + kSoon < believable(event.at))
          found.insert(at);
      }
    }
    // Who is stopped while it asks leaves no answer.
    std::erase_if(open, [&event](const auto& each) {
      const auto& [id, question] = each;
      return settles(event, id) ||
             (std::holds_alternative<RunEnded>(event.fact) && event.run == question.asker);
    });
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (asked && asked->question.kind == QuestionKind::to_parent && asked->question.until)
      open[asked->question.id] = {event.run, believable(*asked->question.until)};
  }
  return found;
}

}  // namespace

WallTime believable(WallTime told) { return std::clamp(told, WallTime{}, WallTime{kCentury}); }

// What is reserved for a request without a trace stands before the word that the tree was taken up.
std::vector<NextProgram> next_programs_in(const std::vector<Event>& events) {
  std::vector<NextProgram> found;
  for (std::size_t at = 1; at < events.size(); ++at) {
    if (!std::holds_alternative<TakenUp>(events[at].fact)) continue;
    std::size_t first = at;
    while (first > 1 && std::holds_alternative<BudgetReserved>(events[first - 1].fact) &&
           believable(events[at].at) - believable(events[first - 1].at) < kSoon)
      --first;
    found.push_back({first, at});
  }
  return found;
}

// A clock that goes to and fro may tell more than all time there is: no more than a century is told.
Moments::Moments(const std::vector<Event>& events) {
  const auto programs = next_programs_in(events);
  const auto too_late = taken_up_too_late(events, programs);
  WallTime::duration since{};
  for (std::size_t at = 0; at < events.size(); ++at) {
    const bool is_taken_up = std::ranges::binary_search(programs, at, {}, &NextProgram::first);
    if (at > 0 && (!is_taken_up || too_late.contains(at))) {
      const auto passed = believable(events[at].at) - believable(events[at - 1].at);
      since = std::min(since + std::max(passed, WallTime::duration{}), kCentury);
    }
    moments_.emplace_back(since);
  }
}

}  // namespace deputy
