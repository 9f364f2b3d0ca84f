#include "app/replay_outside.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "app/replay_course.h"
#include "app/replay_moments.h"
#include "app/replay_places.h"
#include "base/json.h"

namespace deputy {
namespace {

class Reader {
 public:
  explicit Reader(const std::vector<Event>& events) : events_(events), places_(events), progress_(events) {
    for (const Event& event : events) {
      if (const auto* received = std::get_if<ReplyReceived>(&event.fact))
        replies_.try_emplace({event.run, event.step}, &received->reply);
      if (const auto* created = std::get_if<SessionCreated>(&event.fact))
        if (created->session->parent) parents_[created->session->id] = *created->session->parent;
    }
  }

  FromOutside read() {
    read_inputs();
    read_cancels();
    read_programs();
    std::ranges::sort(found_.continuations, {}, &Continuation::event);
    read_words();
    std::ranges::sort(found_.happenings, {}, [](const Outside& it) { return std::pair(it.event, it.kind); });
    return std::move(found_);
  }

 private:
  const std::string& place(std::size_t at) const { return places_.of(events_[at].run.session); }

  // Whoever takes a tree up sees to what was left for a session before anything else of it.
  Continuation* taken_up_with(std::size_t word) {
    const auto next = std::ranges::upper_bound(found_.continuations, word, {}, &Continuation::event);
    if (next == found_.continuations.begin() || progress_.is_asking(word)) return nullptr;
    Continuation& last = *std::prev(next);
    const SessionId& session = events_[word].run.session;
    const bool is_first = progress_.own_steps(session, word) == progress_.own_steps(session, last.event);
    return is_first && !last.input && !last.gives_up ? &last : nullptr;
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
      found_.happenings.push_back(
          {.kind = Outside::Kind::nudge,
           .place = place(at),
           .text = word->text,
           .id = word->id,
           .after = {{place(at), progress_.of(event.run.session, at, progress_.is_asking(at))}},
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
          places_.all().contains(detached->child)) {
        const std::string& child = places_.of(detached->child);
        found_.happenings.push_back({.kind = Outside::Kind::send_to_background,
                                     .place = child,
                                     .after = {{child, progress_.of(detached->child, at)}},
                                     .event = at});
      }
      if (const auto* started = std::get_if<RunStarted>(&event.fact);
          started && session == event.tree && begun.insert(event.run.number).second)
        found_.continuations.push_back({.event = at,
                                        .input = first_input(event.run),
                                        .model = started->model,
                                        .task = started->task,
                                        .limits = started->limits});
    }
  }

  // Whether the call itself asked for that.
  bool wished_beside(std::size_t detached) const {
    const Event& event = events_[detached];
    const auto reply = replies_.find({event.run, event.step});
    if (reply == replies_.end() || event.call < 0) return false;
    const auto& calls = reply->second->message.calls;
    if (static_cast<std::size_t>(event.call) >= calls.size()) return false;
    const auto arguments = parse_json_object(calls[static_cast<std::size_t>(event.call)].arguments);
    return arguments && bool_at(*arguments, "run_in_background").value_or(false);
  }

  std::string first_input(const RunId& run) const {
    for (const std::size_t at : progress_.events_of(run.session)) {
      const auto* input = std::get_if<InputGiven>(&events_[at].fact);
      if (input && events_[at].run == run) return input->text;
    }
    return {};
  }

  // The first that the end of this run by a stop left: the request, call or question that it broke off, or
  // the end itself.
  std::size_t trace_of_stop(std::size_t ended) const {
    std::vector<std::size_t> before;  // the last two
    for (auto at = progress_.last_before(events_[ended].run.session, ended); at && before.size() < 2;
         at = progress_.last_before(events_[ended].run.session, *at)) {
      if (events_[*at].run == events_[ended].run && is_step(events_[*at].fact)) before.push_back(*at);
    }
    if (before.empty()) return ended;
    const std::size_t last = before.front();
    if (std::holds_alternative<RequestStopped>(events_[last].fact)) return last;
    if (!std::holds_alternative<CallFinished>(events_[last].fact)) return ended;
    if (before.size() < 2) return last;
    const auto* answered = std::get_if<QuestionAnswered>(&events_[before[1]].fact);
    return answered && answered->answer.kind == AnswerKind::nobody ? before[1] : last;
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
      if (above->second.ended > ended && std::ranges::none_of(progress_.events_of(parent->second), goes_on))
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
      if (ended && ended->report->reason == Reason::cancelled_by_user && !is_given_up(events_[at].fact))
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
      Outside outside{.place = places_.of(top.session), .text = cancelled.at(top).error, .event = first};
      for (const RunId& run : runs) {
        const std::size_t trace = cancelled.at(run).trace;
        outside.after[places_.of(run.session)] =
            progress_.of(run.session, first, std::holds_alternative<RequestStopped>(events_[trace].fact));
      }
      found_.happenings.push_back(std::move(outside));
    }
  }

  // Its run goes on, or is left open, and no limit was reached: the program left while it was under way.
  bool is_left(std::size_t stopped) const {
    for (const std::size_t at : progress_.events_of(events_[stopped].run.session)) {
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
    const auto next = next_programs_in(events_);
    NextProgram program;
    for (std::size_t i = 0; i <= next.size(); ++i) {
      const std::size_t end = i < next.size() ? next[i].first : events_.size();
      if (i > 0) {
        const auto told = std::span(events_).subspan(program.taken_up, end - program.taken_up);
        found_.continuations.push_back({.event = program.first,
                                        .gives_up = std::ranges::any_of(told, is_given_up, &Event::fact),
                                        .limits = std::get<TakenUp>(events_[program.taken_up].fact).limits});
      }
      if (!read_leaving(program.taken_up, end) && i < next.size()) read_death(program, end);
      if (i < next.size()) program = next[i];
    }
  }

  bool read_leaving(std::size_t begin, std::size_t end) {
    Outside outside{.kind = Outside::Kind::leave};
    for (std::size_t at = begin; at < end; ++at) {
      if (!std::holds_alternative<RequestStopped>(events_[at].fact) || !is_left(at)) continue;
      if (outside.after.empty()) outside.event = at;
      outside.after[place(at)] = progress_.of(events_[at].run.session, at, true);
    }
    if (outside.after.empty()) return false;
    found_.happenings.push_back(std::move(outside));
    return true;
  }

  // Those of its sessions of which it had told anything had come just as far.
  void read_death(const NextProgram& program, std::size_t next) {
    Outside outside{.kind = Outside::Kind::die, .event = next};
    std::set<SessionId> moved;
    for (std::size_t at = program.first; at < next; ++at) moved.insert(events_[at].run.session);
    for (const SessionId& session : moved)
      outside.after[places_.of(session)] =
          progress_.of(session, next, has_reserved(session, program.taken_up, next));
    found_.happenings.push_back(std::move(outside));
  }

  // For a request without an end.
  bool has_reserved(const SessionId& session, std::size_t begin, std::size_t end) const {
    bool has = false;
    const auto& of_session = progress_.events_of(session);
    for (auto next = std::ranges::lower_bound(of_session, begin); next != of_session.end(); ++next) {
      const std::size_t at = *next;
      if (at >= end) break;
      if (std::holds_alternative<BudgetReserved>(events_[at].fact)) has = true;
      if (ends_request(events_[at].fact)) has = false;
    }
    return has;
  }

  const std::vector<Event>& events_;
  const Places places_;
  const SessionProgress progress_;
  std::map<std::pair<RunId, int>, const Reply*> replies_;  // by run and step
  std::map<SessionId, SessionId> parents_;
  FromOutside found_;
};

}  // namespace

// As giving_up.cc says it.
bool is_given_up(const Fact& fact) {
  static constexpr std::string_view kNobody = "nobody ran it when it was cancelled";
  const auto* ended = std::get_if<RunEnded>(&fact);
  return ended && std::ranges::any_of(ended->report->errors, [](const ReportedError& error) {
           return error.code == kForcedEnd && error.message.starts_with(kNobody);
         });
}

FromOutside outside_in(const std::vector<Event>& events) { return Reader(events).read(); }

}  // namespace deputy
