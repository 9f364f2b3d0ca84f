#include "delegation/question_ids.h"

namespace deputy {

namespace {
constexpr std::string_view kPrefix = "q_";
}

std::string question_id_of(const CallId& call) { return std::string(kPrefix) + to_text(call); }

SessionId asker_of(std::string_view question_id) {
  if (!question_id.starts_with(kPrefix)) return {};
  const auto session = question_id.substr(kPrefix.size(), question_id.find('/') - kPrefix.size());
  return is_session_id(session) ? SessionId(std::string(session)) : SessionId{};
}

bool settles(const Event& event, std::string_view question_id) {
  if (const auto* answered = std::get_if<QuestionAnswered>(&event.fact))
    return answered->question_id == question_id;
  return std::holds_alternative<CallFinished>(event.fact) &&
         question_id_of({event.run, event.step, event.call}) == question_id;
}

}  // namespace deputy
