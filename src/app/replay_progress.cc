#include "app/replay_progress.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "app/replay_course.h"

namespace deputy {

const Nudged* word_of_person(const Fact& fact) {
  const auto* word = std::get_if<Nudged>(&fact);
  return word && word->source == Source::person ? word : nullptr;
}

bool ends_request(const Fact& fact) {
  return std::holds_alternative<ReplyReceived>(fact) || std::holds_alternative<RequestStopped>(fact) ||
         std::holds_alternative<Compacted>(fact);
}

SessionProgress::SessionProgress(const std::vector<Event>& events)
    : events_(events), progress_(events.size()), own_steps_(events.size()), asks_(events.size()) {
  for (std::size_t at = 0; at < events.size(); ++at) by_session_[events[at].run.session].push_back(at);
  for (const auto& [session, of_session] : by_session_) read(of_session);
}

void SessionProgress::read(const std::vector<std::size_t>& of_session) {
  Progress so_far;
  std::size_t own_steps = 0;
  for (const std::size_t at : of_session) {
    const Fact& fact = events_[at].fact;
    so_far.events += is_step(fact) ? 1 : 0;
    so_far.reserved += std::holds_alternative<BudgetReserved>(fact) ? 1 : 0;
    const auto* reply = std::get_if<ReplyReceived>(&fact);
    const bool is_asked = reply && reply->reply.stop != ReplyStop::over_budget;
    so_far.requests += is_asked || (!reply && ends_request(fact)) ? 1 : 0;
    progress_[at] = so_far;
    own_steps += is_step(fact) && !word_of_person(fact) ? 1 : 0;
    own_steps_[at] = own_steps;
  }
  bool asks = false;
  for (const std::size_t at : of_session | std::views::reverse) {
    asks_[at] = asks;
    const Fact& fact = events_[at].fact;
    if (is_step(fact) && !std::holds_alternative<Nudged>(fact)) asks = ends_request(fact);
  }
}

std::optional<std::size_t> SessionProgress::last_before(const SessionId& session, std::size_t event) const {
  const auto& of_session = events_of(session);
  const auto next = std::ranges::lower_bound(of_session, event);
  return next == of_session.begin() ? std::nullopt : std::optional(*std::prev(next));
}

Progress SessionProgress::of(const SessionId& session, std::size_t before, bool asks) const {
  const auto last = last_before(session, before);
  Progress progress = last ? progress_[*last] : Progress{};
  progress.requests += asks ? 1 : 0;
  return progress;
}

std::size_t SessionProgress::own_steps(const SessionId& session, std::size_t before) const {
  const auto last = last_before(session, before);
  return last ? own_steps_[*last] : 0;
}

}  // namespace deputy
