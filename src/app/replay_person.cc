#include "app/replay_person.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"

namespace deputy {
namespace {

// That the person had a search service: it was asked, or is on the list of tools for a call of none of them.
bool shows_search(const Event& event) {
  constexpr std::string_view kSearch = "WebSearch";
  if (const auto* intent = std::get_if<CallStarted>(&event.fact)) return intent->tool == kSearch;
  const auto* finished = std::get_if<CallFinished>(&event.fact);
  const std::string_view told = finished ? std::string_view(finished->result.content) : "";
  const std::size_t list = told.find(". Your tools are: ");
  return told.starts_with("You have no tool named") && list != told.npos &&
         told.substr(list).contains(kSearch);
}

}  // namespace

Attendance attendance_in(std::span<const Event> events) {
  std::optional<Attendance> attendance;
  std::set<std::string> open;
  for (const Event& event : events) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (asked && asked->question.kind != QuestionKind::to_parent) open.insert(asked->question.id);
    const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
    if (!answered || open.erase(answered->question_id) == 0) continue;
    const Answer& answer = answered->answer;
    const bool is_stopped = answer.kind == AnswerKind::nobody && !answer.text.empty();
    if (answer.by == Source::person || is_stopped) return Attendance::person;
    if (answer.kind == AnswerKind::approved) attendance = Attendance::approves_all;
    if (!attendance) attendance = Attendance::nobody;
  }
  return attendance.value_or(open.empty() ? Attendance::nobody : Attendance::person);
}

std::optional<bool> has_search(const Bundle& bundle) {
  if (std::ranges::any_of(bundle.events, shows_search)) return true;
  return bool_at(bundle.about, "has_search");
}

}  // namespace deputy
