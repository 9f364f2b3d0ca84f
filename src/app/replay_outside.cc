#include "app/replay_outside.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/replay_comparison.h"
#include "app/replay_moments.h"
#include "app/replayed_tool.h"
#include "base/json.h"

namespace deputy {
namespace {

constexpr Duration kOneLeaving = std::chrono::seconds(10);  // in which all requests of a program are stopped

class Reader {
 public:
  explicit Reader(const std::vector<Event>& events)
      : events_(events), places_(places_in(events)), moments_(events) {
    for (std::size_t at = 0; at < events.size(); ++at) {
      by_session_[events[at].run.session].push_back(at);
      if (const auto* created = std::get_if<SessionCreated>(&events[at].fact))
        if (created->session->parent) parents_[created->session->id] = *created->session->parent;
    }
  }

  FromOutside read(const std::vector<Death>& deaths) {
    read_words();
    read_cancels();
    read_leavings();
    for (const Death& death : deaths) read_death(death.event);
    std::ranges::sort(found_.continuations, {}, &Continuation::event);
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
      progress.events += is_compared(fact) ? 1 : 0;
      const auto* reply = std::get_if<ReplyReceived>(&fact);
      const bool is_asked = reply && reply->reply.stop != ReplyStop::over_budget;
      const bool is_ended =
          std::holds_alternative<RequestStopped>(fact) || std::holds_alternative<Compacted>(fact);
      progress.requests += is_asked || is_ended ? 1 : 0;
    }
    return progress;
  }

  // Whether a request of the session was under way then: its reply comes before anything else that is told.
  bool is_asking(std::size_t then) const {
    for (const std::size_t at : by_session_.at(events_[then].run.session)) {
      if (at <= then || !is_compared(events_[at].fact)) continue;
      const Fact& fact = events_[at].fact;
      if (std::holds_alternative<Nudged>(fact)) continue;
      return std::holds_alternative<ReplyReceived>(fact) || std::holds_alternative<RequestStopped>(fact) ||
             std::holds_alternative<Compacted>(fact);
    }
    return false;
  }

  void read_words() {
    std::set<int> begun{1};
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const Event& event = events_[at];
      const SessionId& session = event.run.session;
      if (const auto* nudge = std::get_if<Nudged>(&event.fact); nudge && nudge->source == Source::person) {
        found_.happenings.push_back({.kind = Outside::Kind::nudge,
                                     .place = place(at),
                                     .text = nudge->text,
                                     .at = event.at,
                                     .after = {{place(at), progress(session, at, is_asking(at))}}});
      }
      if (const auto* detached = std::get_if<Detached>(&event.fact);
          detached && detached->question_id.empty() && !wished_beside(at) &&
          places_.contains(detached->child)) {
        found_.happenings.push_back(
            {.kind = Outside::Kind::send_to_background,
             .place = places_.at(detached->child),
             .at = event.at,
             .after = {{places_.at(detached->child), progress(detached->child, at)}}});
      }
      if (const auto* started = std::get_if<RunStarted>(&event.fact);
          started && session == event.tree && begun.insert(event.run.number).second)
        found_.continuations.push_back({at, event.at, first_input(event.run), started->model, started->task});
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
      if (at < ended && events_[at].run == events_[ended].run && is_compared(events_[at].fact))
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

  // Whether its parent, which was cancelled too, had done nothing more since: then it was one cancel.
  bool came_from_above(const SessionId& child, const std::map<SessionId, Cancelled>& cancelled) const {
    const auto parent = parents_.find(child);
    if (parent == parents_.end()) return false;
    const auto above = cancelled.find(parent->second);
    if (above == cancelled.end()) return false;
    const std::size_t ended = cancelled.at(child).ended;
    return std::ranges::none_of(by_session_.at(parent->second), [&](std::size_t at) {
      return at > ended && at < above->second.ended &&
             std::holds_alternative<ReplyReceived>(events_[at].fact);
    });
  }

  static std::string error_of(const Report& report) {
    return report.errors.empty() ? "" : report.errors.front().message;
  }

  void read_cancels() {
    std::map<SessionId, Cancelled> cancelled;  // the last time of each
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const auto* ended = std::get_if<RunEnded>(&events_[at].fact);
      if (ended && ended->report->reason == Reason::cancelled_by_user)
        cancelled[events_[at].run.session] = {at, trace_of_stop(at), error_of(ended->report)};
    }
    std::map<SessionId, std::vector<SessionId>> groups;  // by the one that was cancelled
    for (const auto& [session, end] : cancelled) {
      SessionId top = session;
      while (came_from_above(top, cancelled)) top = parents_.at(top);
      groups[top].push_back(session);
    }
    for (const auto& [top, sessions] : groups) {
      std::size_t first = cancelled.at(top).trace;
      for (const SessionId& session : sessions) first = std::min(first, cancelled.at(session).trace);
      Outside outside{.place = places_.at(top), .text = cancelled.at(top).error, .at = events_[first].at};
      for (const SessionId& session : sessions) {
        const std::size_t trace = cancelled.at(session).trace;
        outside.after[places_.at(session)] =
            progress(session, first, std::holds_alternative<RequestStopped>(events_[trace].fact));
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

  void read_leavings() {
    std::vector<std::size_t> left;
    for (std::size_t at = 0; at < events_.size(); ++at) {
      if (std::holds_alternative<RequestStopped>(events_[at].fact) && is_left(at)) left.push_back(at);
    }
    for (std::size_t i = 0; i < left.size();) {
      const std::size_t first = left[i];
      Outside outside{.kind = Outside::Kind::leave, .at = events_[first].at};
      std::size_t last = first;
      const TimePoint begun = moments_.of(events_[first].at);
      for (; i < left.size() && moments_.of(events_[left[i]].at) - begun < kOneLeaving; ++i) {
        last = left[i];
        outside.after[place(last)] = progress(events_[last].run.session, last, true);
      }
      found_.happenings.push_back(std::move(outside));
      if (last + 1 < events_.size())
        found_.continuations.push_back({.event = last + 1, .at = events_[last + 1].at});
    }
  }

  // All of its sessions had come just as far.
  void read_death(std::size_t next) {
    Outside outside{.kind = Outside::Kind::die, .at = events_[next - 1].at};
    for (const auto& [session, of_session] : by_session_) {
      if (of_session.front() < next)
        outside.after[places_.at(session)] = {.events = progress(session, next).events};
    }
    found_.happenings.push_back(std::move(outside));
    found_.continuations.push_back({.event = next, .at = events_[next].at});
  }

  const std::vector<Event>& events_;
  const std::map<SessionId, std::string> places_;
  const Moments moments_;
  std::map<SessionId, std::vector<std::size_t>> by_session_;
  std::map<SessionId, SessionId> parents_;
  FromOutside found_;
};

double seconds(WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

// The first event behind the longest time, from `begun` to `again`, in which nothing was recorded.
std::size_t taken_up_between(const std::vector<Event>& events, std::size_t begun, std::size_t again) {
  const auto quiet = [&events](std::size_t at) {
    return seconds(events[at].at) - seconds(events[at - 1].at);
  };
  std::size_t longest = begun + 1;
  for (std::size_t at = longest; at <= again; ++at)
    if (quiet(at) > quiet(longest)) longest = at;
  return longest;
}

}  // namespace

std::vector<Death> deaths_in(const std::vector<Event>& events) {
  std::map<std::size_t, Death> found;
  std::map<SessionId, std::size_t> last;      // event
  std::map<SessionId, std::size_t> reserved;  // and no end of the request yet
  std::map<std::tuple<RunId, int, int, std::string_view>, std::size_t> begun;  // by call and what it began
  std::set<std::tuple<RunId, int, int>> answers;  // calls that answer a child, and wait for it
  for (std::size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    const SessionId& session = event.run.session;
    const auto died_since = [&](std::size_t before, std::string why) -> Death& {
      const std::size_t next = taken_up_between(events, before, at);
      return found.try_emplace(next, Death{next, std::move(why)}).first->second;
    };
    if (const auto* word = std::get_if<Nudged>(&event.fact);
        word && word->source == Source::runtime && last.contains(session))
      died_since(last.at(session), "its program ended in the middle, and commands were lost")
          .has_lost_commands = true;
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);  // for permission, or what it asks itself
    const auto* started = std::get_if<CallStarted>(&event.fact);
    if (started && started->tool == "answer_subagent") answers.insert({event.run, event.step, event.call});
    const bool waits_again =
        std::holds_alternative<Attached>(event.fact) && answers.contains({event.run, event.step, event.call});
    if (asked || started || waits_again) {
      const auto what = asked ? name_of(asked->question.kind) : kind_of(event.fact);
      const auto [first, is_new] = begun.try_emplace({event.run, event.step, event.call, what}, at);
      if (!is_new) died_since(std::exchange(first->second, at), "its program ended in the middle of a call");
    }
    if (std::holds_alternative<BudgetReserved>(event.fact)) {
      const auto [first, is_new] = reserved.try_emplace(session, at);
      if (!is_new)
        died_since(std::exchange(first->second, at), "its program ended in the middle of a request");
    }
    if (std::holds_alternative<ReplyReceived>(event.fact) ||
        std::holds_alternative<RequestStopped>(event.fact) || std::holds_alternative<Compacted>(event.fact) ||
        std::holds_alternative<RunEnded>(event.fact))
      reserved.erase(session);
    last[session] = at;
  }
  for (const std::size_t at : taken_up_too_late(events))
    found.try_emplace(at, Death{at, "a question ran out of time while no program ran it"});
  std::vector<Death> deaths;
  for (auto& [event, death] : found) deaths.push_back(std::move(death));
  return deaths;
}

FromOutside outside_in(const std::vector<Event>& events, const std::vector<Death>& deaths) {
  return Reader(events).read(deaths);
}

}  // namespace deputy
