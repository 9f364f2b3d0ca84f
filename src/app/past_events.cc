#include "app/past_events.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace deputy {

std::vector<PastEvent> with_origins(std::vector<Event> events) {
  std::map<SessionId, EventOrigin> origins;
  std::vector<PastEvent> past;
  past.reserve(events.size());
  for (Event& event : events) {
    EventOrigin& origin = origins[event.run.session];
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
      const Session& session = created->session;
      origin = {session.parent.value_or(SessionId{}), session.label, session.agent};
    }
    past.push_back({std::move(event), origin});
  }
  return past;
}

std::vector<PastEvent> past_events(std::vector<Event> events) {
  std::set<std::string> left_out;
  std::vector<PastEvent> past;
  for (PastEvent& each : with_origins(std::move(events))) {
    const Fact& fact = each.event.fact;
    const auto* asked = std::get_if<QuestionAsked>(&fact);
    if (asked && asked->question.kind != QuestionKind::to_parent) {
      left_out.insert(asked->question.id);
      continue;
    }
    const auto* answered = std::get_if<QuestionAnswered>(&fact);
    if (answered && left_out.contains(answered->question_id)) continue;
    past.push_back(std::move(each));
  }
  return past;
}

}  // namespace deputy
