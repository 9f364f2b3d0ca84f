#include "app/replay_outside.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "app/replay_course.h"
#include "app/replay_moments.h"
#include "app/replayed_tool.h"
#include "base/json.h"

namespace deputy {
namespace {

const Nudged* word_of_person(const Fact& fact) {
  const auto* word = std::get_if<Nudged>(&fact);
  return word && word->source == Source::person ? word : nullptr;
}

bool ends_request(const Fact& fact) {
  return std::holds_alternative<ReplyReceived>(fact) || std::holds_alternative<RequestStopped>(fact) ||
         std::holds_alternative<Compacted>(fact);
}

class Reader {
 public:
  explicit Reader(const std::vector<Event>& events) : events_(events), places_(places_in(events)) {
    for (std::size_t at = 0; at < events.size(); ++at) {
      by_session_[events[at].run.session].push_back(at);
      if (const auto* created = std::get_if<SessionCreated>(&events[at].fact))
        if (created->session->parent) parents_[created->session->id] = *created->session->parent;
    }
  }

  FromOutside read() {
    read_inputs();
    read_cancels();
    read_programs();
    std::ranges::sort(found_.continuations, {}, &Continuation::event);
    read_words();
    return std::move(found_);
  }

 private:
  const std::string& place(std::size_t at) const { return places_.at(events_[at].run.session); }

  // How far a session had come before the event `before`; `asks`: with a request under way.
  Progress progress(const SessionId& session, std::size_t before, bool asks = false) const {
    Progress progress{.requests = asks ? 1U : 0U};
    for (const std::size_t at : by_session_.at(session)) {
      if (at >= before) break;
      const Fact& fact = events_[at].fact;
      progress.events += is_step(fact) ? 1 : 0;
      const auto* reply = std::get_if<ReplyReceived>(&fact);
      const bool is_asked = reply && reply->reply.stop != ReplyStop::over_budget;
      progress.requests += is_asked || (!reply && ends_request(fact)) ? 1 : 0;
    }
    return progress;
  }

  // Whether a request of the session was under way then: its reply comes before anything else that is told.
  bool is_asking(std::size_t then) const {
    for (const std::size_t at : by_session_.at(events_[then].run.session)) {
      if (at <= then || !is_step(events_[at].fact)) continue;
      const Fact& fact = events_[at].fact;
      if (std::holds_alternative<Nudged>(fact)) continue;
      return ends_request(fact);
    }
    return false;
  }

  // Whoever takes a tree up sees to what was left for a session before anything else of it.
  Continuation* taken_up_with(std::size_t word) {
    const auto next = std::ranges::upper_bound(found_.continuations, word, {}, &Continuation::event);
    if (next == found_.continuations.begin() || is_asking(word)) return nullptr;
    Continuation& last = *std::prev(next);
    const bool is_first =
        std::ranges::none_of(by_session_.at(events_[word].run.session), [&](std::size_t at) {
          return at >= last.event && at < word && is_step(events_[at].fact) &&
                 !word_of_person(events_[at].fact);
        });
    return is_first && !last.input ? &last : nullptr;
  }

  void read_words() {
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const Event& event = events_[at];
      const Nudged* word = word_of_person(event.fact);
      if (!word) continue;
      if (Continuation* taken_up = taken_up_with(at)) {
        taken_up->words.push_back({place(at), word->text});
        continue;
      }
      found_.happenings.push_back({.kind = Outside::Kind::nudge,
                                   .place = place(at),
                                   .text = word->text,
                                   .id = word->id,
                                   .at = event.at,
                                   .after = {{place(at), progress(event.run.session, at, is_asking(at))}},
                                   .event = at});
    }
  }

  void read_inputs() {
    std::set<int> begun{1};
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const Event& event = events_[at];
      const SessionId& session = event.run.session;
      if (const auto* detached = std::get_if<Detached>(&event.fact);
          detached && detached->question_id.empty() && !wished_beside(at) &&
          places_.contains(detached->child)) {
        found_.happenings.push_back({.kind = Outside::Kind::send_to_background,
                                     .place = places_.at(detached->child),
                                     .at = event.at,
                                     .after = {{places_.at(detached->child), progress(detached->child, at)}},
                                     .event = at});
      }
      if (const auto* started = std::get_if<RunStarted>(&event.fact);
          started && session == event.tree && begun.insert(event.run.number).second)
        found_.continuations.push_back({.event = at,
                                        .at = event.at,
                                        .input = first_input(event.run),
                                        .model = started->model,
                                        .task = started->task,
                                        .limits = started->limits});
    }
  }

  // Whether the call itself asked for that.
  bool wished_beside(std::size_t detached) const {
    const Event& event = events_[detached];
    for (const std::size_t at : by_session_.at(event.run.session)) {
      const auto* received = std::get_if<ReplyReceived>(&events_[at].fact);
      if (!received || events_[at].run != event.run || events_[at].step != event.step) continue;
      const auto& calls = received->reply.message.calls;
      if (event.call < 0 || static_cast<std::size_t>(event.call) >= calls.size()) continue;
      const auto arguments = parse_json_object(calls[static_cast<std::size_t>(event.call)].arguments);
      return arguments && bool_at(*arguments, "run_in_background").value_or(false);
    }
    return false;
  }

  std::string first_input(const RunId& run) const {
    for (const std::size_t at : by_session_.at(run.session)) {
      const auto* input = std::get_if<InputGiven>(&events_[at].fact);
      if (input && events_[at].run == run) return input->text;
    }
    return {};
  }

  // The first that the end of this run by a stop left: the request, call or question that it broke off, or
  // the end itself.
  std::size_t trace_of_stop(std::size_t ended) const {
    std::vector<std::size_t> before;
    for (const std::size_t at : by_session_.at(events_[ended].run.session)) {
      if (at < ended && events_[at].run == events_[ended].run && is_step(events_[at].fact))
        before.push_back(at);
    }
    if (before.empty()) return ended;
    const std::size_t last = before.back();
    if (std::holds_alternative<RequestStopped>(events_[last].fact)) return last;
    if (!std::holds_alternative<CallFinished>(events_[last].fact)) return ended;
    if (before.size() < 2) return last;
    const auto* answered = std::get_if<QuestionAnswered>(&events_[before[before.size() - 2]].fact);
    return answered && answered->answer.kind == AnswerKind::nobody ? before[before.size() - 2] : last;
  }

  struct Cancelled {
    std::size_t ended;
    std::size_t trace;
    std::string error;
  };

  using AllCancelled = std::map<RunId, Cancelled>;

  // The run of its parent that was cancelled too, and had done nothing more since: then it was one cancel.
  std::optional<RunId> cancelled_above(const RunId& run, const AllCancelled& cancelled) const {
    const auto parent = parents_.find(run.session);
    if (parent == parents_.end()) return std::nullopt;
    const std::size_t ended = cancelled.at(run).ended;
    for (auto above = cancelled.lower_bound({parent->second, 0});
         above != cancelled.end() && above->first.session == parent->second; ++above) {
      const auto goes_on = [&](std::size_t at) {
        return at > ended && at < above->second.ended &&
               std::holds_alternative<ReplyReceived>(events_[at].fact);
      };
      if (above->second.ended > ended && std::ranges::none_of(by_session_.at(parent->second), goes_on))
        return above->first;
    }
    return std::nullopt;
  }

  static std::string error_of(const Report& report) {
    return report.errors.empty() ? "" : report.errors.front().message;
  }

  void read_cancels() {
    AllCancelled cancelled;
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const auto* ended = std::get_if<RunEnded>(&events_[at].fact);
      if (ended && ended->report->reason == Reason::cancelled_by_user)
        cancelled[events_[at].run] = {at, trace_of_stop(at), error_of(ended->report)};
    }
    std::map<RunId, std::vector<RunId>> groups;  // by the one that was cancelled
    for (const auto& [run, end] : cancelled) {
      RunId top = run;
      while (const auto above = cancelled_above(top, cancelled)) top = *above;
      groups[top].push_back(run);
    }
    for (const auto& [top, runs] : groups) {
      std::size_t first = cancelled.at(top).trace;
      for (const RunId& run : runs) first = std::min(first, cancelled.at(run).trace);
      Outside outside{.place = places_.at(top.session),
                      .text = cancelled.at(top).error,
                      .at = events_[first].at,
                      .event = first};
      for (const RunId& run : runs) {
        const std::size_t trace = cancelled.at(run).trace;
        outside.after[places_.at(run.session)] =
            progress(run.session, first, std::holds_alternative<RequestStopped>(events_[trace].fact));
      }
      found_.happenings.push_back(std::move(outside));
    }
  }

  // Its run goes on, or is left open, and no limit was reached: the program left while it was under way.
  bool is_left(std::size_t stopped) const {
    for (const std::size_t at : by_session_.at(events_[stopped].run.session)) {
      if (at <= stopped) continue;
      const Fact& fact = events_[at].fact;
      if (std::holds_alternative<RunEnded>(fact)) return false;
      if (const auto* input = std::get_if<InputGiven>(&fact)) return input->about == Reason::none;
      if (std::holds_alternative<ReplyReceived>(fact) || std::holds_alternative<RequestStopped>(fact) ||
          std::holds_alternative<Delivered>(fact))
        return true;
    }
    return true;
  }

  // Each but the first took the tree up from one that had left it, or died.
  void read_programs() {
    std::size_t begin = 0;
    for (const auto& [next, said] : next_programs_in(events_)) {
      if (!read_leaving(begin, next)) read_death(begin, next);
      found_.continuations.push_back(
          {.event = next, .at = events_[next].at, .limits = std::get<TakenUp>(events_[said].fact).limits});
      begin = said;
    }
    read_leaving(begin, events_.size());
  }

  bool read_leaving(std::size_t begin, std::size_t end) {
    Outside outside{.kind = Outside::Kind::leave};
    for (std::size_t at = begin; at < end; ++at) {
      if (!std::holds_alternative<RequestStopped>(events_[at].fact) || !is_left(at)) continue;
      if (outside.after.empty()) outside.event = at;
      outside.at = events_[outside.event].at;
      outside.after[place(at)] = progress(events_[at].run.session, at, true);
    }
    if (outside.after.empty()) return false;
    found_.happenings.push_back(std::move(outside));
    return true;
  }

  // All of its sessions had come just as far.
  void read_death(std::size_t begin, std::size_t next) {
    Outside outside{.kind = Outside::Kind::die, .at = events_[next - 1].at, .event = next};
    for (const auto& [session, of_session] : by_session_) {
      if (of_session.front() < next)
        outside.after[places_.at(session)] = progress(session, next, has_reserved(session, begin, next));
    }
    found_.happenings.push_back(std::move(outside));
  }

  // For a request without an end.
  bool has_reserved(const SessionId& session, std::size_t begin, std::size_t end) const {
    bool has = false;
    for (const std::size_t at : by_session_.at(session)) {
      if (at < begin || at >= end) continue;
      if (std::holds_alternative<BudgetReserved>(events_[at].fact)) has = true;
      if (ends_request(events_[at].fact)) has = false;
    }
    return has;
  }

  const std::vector<Event>& events_;
  const std::map<SessionId, std::string> places_;
  std::map<SessionId, std::vector<std::size_t>> by_session_;
  std::map<SessionId, SessionId> parents_;
  FromOutside found_;
};

}  // namespace

FromOutside outside_in(const std::vector<Event>& events) { return Reader(events).read(); }

}  // namespace deputy
