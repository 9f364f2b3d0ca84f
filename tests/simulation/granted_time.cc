#include "granted_time.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy {
namespace {

using namespace std::chrono_literals;

// On record are whole microseconds, and each time that one stood still rounds.
constexpr Duration kRounding = 1ms;

bool waits_for_person(const Session& session) { return session.wait && session.wait->owner == kPerson; }

}  // namespace

void GrantedTime::begin_life() {
  for (auto& [id, run] : runs_) run = {.time = left_of(run), .to = TimePoint::max()};
  questions_.clear();
  put_forth_.clear();
  still_.clear();
  seen_at_ = {};
}

void GrantedTime::jumped(Duration by, TimePoint now) {
  if (by > Duration::zero()) put_forth_[now] += by;
  set_back_ += std::max(-by, Duration::zero());
}

// For another process. On record it is by the wall clock, as is when the last record was made.
Duration GrantedTime::left_of(const Grant& grant) const {
  if (grant.time == Duration::max()) return grant.time;
  return grant.time - grant.used - set_back_ - put_forth(grant.from, TimePoint::max()) - kRounding;
}

Duration GrantedTime::put_forth(TimePoint from, TimePoint to) const {
  Duration by{};
  for (auto jump = put_forth_.lower_bound(from); jump != put_forth_.end() && jump->first <= to; ++jump)
    by += jump->second;
  return by;
}

std::string GrantedTime::fault_after(const Event& event, TimePoint now, const Sessions& all,
                                     const std::set<SessionId>& left) {
  pass(now, all, left);
  take_grant(event, all);
  const auto* input = std::get_if<InputGiven>(&event.fact);
  const auto* ended = std::get_if<RunEnded>(&event.fact);
  const bool is_last_step = input && input->about == Reason::timeout;
  const bool is_end = ended && ended->report->reason == Reason::timeout;
  if (const auto run = runs_.find(event.run.session); run != runs_.end() && (is_last_step || is_end)) {
    figures_[Figure::timeouts] += 1;
    const auto& [id, grant] = *run;
    if (is_last_step && !is_over(grant)) return early(id, "was given its last step");
    if (is_end && !may_be_over(&all.at(id), all)) return early(id, "was ended");
  }
  // The asker is told that there is none only where nobody has answered in time.
  const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
  if (!answered || answered->answer.kind != AnswerKind::nobody) return {};
  const auto question = questions_.find(answered->question_id);
  if (question == questions_.end()) return {};
  figures_[Figure::unanswered] += 1;
  question->second.used = now - question->second.from;
  return is_over(question->second) ? "" : answered->question_id + " ran out of time before it did";
}

// Whose time stood still since the last event, and whose does from now on.
void GrantedTime::pass(TimePoint now, const Sessions& all, const std::set<SessionId>& left) {
  for (auto& [id, run] : runs_)
    if (!still_.contains(id)) run.used += now - seen_at_;
  seen_at_ = now;
  still_.clear();
  for (const auto& [id, session] : all) {
    if (!waits_for_person(session) || left.contains(id)) continue;
    for (const Session* at = &session; at && still_.insert(at->id).second;)
      at = at->parent ? &all.at(*at->parent) : nullptr;
  }
}

// With each run its time begins anew, or there is no limit of it.
void GrantedTime::take_grant(const Event& event, const Sessions& all) {
  if (std::holds_alternative<RunStarted>(event.fact)) {
    const auto& deadline = all.at(event.run.session).deadline;
    runs_[event.run.session] = {
        .time = deadline ? *deadline - event.at : Duration::max(), .from = seen_at_, .to = seen_at_};
  }
  const auto* asked = std::get_if<QuestionAsked>(&event.fact);
  if (asked && asked->question.until)
    questions_[asked->question.id] = {
        .time = *asked->question.until - event.at, .from = seen_at_, .to = seen_at_};
}

// A clock that is put forth in the very moment at which time is granted, or gone on with, takes that much of
// it: the end is recorded by that clock, and read by it again right behind that.
bool GrantedTime::is_over(const Grant& grant) const {
  return grant.time != Duration::max() &&
         grant.used + put_forth(grant.from, grant.to) + kRounding >= grant.time;
}

// Whoever waits for it ends it with itself.
bool GrantedTime::may_be_over(const Session* session, const Sessions& all) const {
  const auto run = runs_.find(session->id);
  if (run == runs_.end() || is_over(run->second)) return true;
  return session->parent && may_be_over(&all.at(*session->parent), all);
}

std::string GrantedTime::early(const SessionId& session, std::string_view what) const {
  const Grant& run = runs_.at(session);
  return fmt::format("{} {} for want of time after {} of {}", session.value, what, to_text(run.used),
                     to_text(run.time));
}

}  // namespace deputy
