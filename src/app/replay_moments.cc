#include "app/replay_moments.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "delegation/question_ids.h"

namespace deputy {
namespace {

constexpr WallTime::duration kSoon = std::chrono::seconds(1);

// A bundle may say anything.
WallTime believable(WallTime told) {
  constexpr WallTime::duration kCentury = std::chrono::days(36'500);
  return std::clamp(told, WallTime{-kCentury}, WallTime{kCentury});
}

std::optional<WallTime> deadline_in(const Fact& fact) {
  if (const auto* created = std::get_if<SessionCreated>(&fact)) return created->session->deadline;
  if (const auto* started = std::get_if<RunStarted>(&fact)) return started->deadline;
  if (const auto* moved = std::get_if<DeadlineMoved>(&fact)) return moved->deadline;
  return std::nullopt;
}

struct OpenQuestion {
  RunId asker;
  WallTime until;
};

}  // namespace

std::set<std::size_t> taken_up_too_late(const std::vector<Event>& events) {
  std::set<std::size_t> found;
  std::map<std::string, OpenQuestion> open;  // to parents, by id
  for (std::size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    for (const auto& [id, question] : open) {
      if (believable(events[at - 1].at) < question.until && question.until + kSoon < believable(event.at))
        found.insert(at);
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

// Whoever takes a tree up moves its deadlines by as long as nothing was recorded. They are moved for an
// answer that was waited for too: but that time went by.
Moments::Moments(const std::vector<Event>& events) : begin_(believable(events.front().at)) {
  std::map<SessionId, WallTime> deadlines;
  const auto too_late = taken_up_too_late(events);
  for (std::size_t at = 0; at < events.size(); ++at) {
    const WallTime now = believable(events[at].at);
    const WallTime::duration quiet = at == 0 ? kSoon : now - believable(events[at - 1].at);
    bool is_taken_up = false;
    bool is_answered = false;
    for (std::size_t next = at; quiet > kSoon && next < events.size(); ++next) {
      const Event& event = events[next];
      const WallTime::duration later = believable(event.at) - now;
      if (later > kSoon || later < -kSoon) break;
      is_answered = is_answered || std::holds_alternative<QuestionAnswered>(event.fact);
      const auto* moved = std::get_if<DeadlineMoved>(&event.fact);
      const auto before = deadlines.find(event.run.session);
      if (!moved || before == deadlines.end()) continue;
      const WallTime::duration by = believable(moved->deadline) - before->second;
      is_taken_up = is_taken_up || (by > quiet - kSoon && by < quiet + kSoon);
    }
    if (is_taken_up && !is_answered && !too_late.contains(at)) still_.emplace_back(now, quiet);
    if (const auto deadline = deadline_in(events[at].fact))
      deadlines[events[at].run.session] = believable(*deadline);
  }
}

TimePoint Moments::of(WallTime at) const {
  const WallTime moment = believable(at);
  WallTime::duration since = moment - begin_;
  for (const auto& [until, quiet] : still_) since -= moment >= until ? quiet : WallTime::duration{};
  return TimePoint(std::max(WallTime::duration{}, since));
}

}  // namespace deputy
