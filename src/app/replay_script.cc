#include "app/replay_script.h"

#include <algorithm>

#include "app/replay_outside.h"
#include "app/replay_places.h"
#include "base/json.h"

namespace deputy {
namespace {

json::value reply_json(const Reply& reply) {
  json::array calls;
  for (const Call& call : reply.message.calls)
    calls.push_back(json::object{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  json::object usage{{"input", reply.usage.input},
                     {"output", reply.usage.output},
                     {"cache_read", reply.usage.cache_read},
                     {"cache_write", reply.usage.cache_write}};
  if (reply.usage.cost_micros) usage["cost_micros"] = *reply.usage.cost_micros;
  json::object scripted{
      {"text", reply.message.text}, {"calls", std::move(calls)}, {"usage", std::move(usage)}};
  if (reply.stop != ReplyStop::finished && reply.stop != ReplyStop::calls) {
    const bool is_known = reply.stop == ReplyStop::context_exhausted || reply.stop == ReplyStop::no_key ||
                          reply.stop == ReplyStop::refused || reply.stop == ReplyStop::output_limit ||
                          reply.stop == ReplyStop::stalled;
    scripted["error"] =
        json::object{{"kind", is_known ? name_of(reply.stop) : "failed"}, {"message", reply.error}};
  }
  return scripted;
}

class RequestReader {
 public:
  explicit RequestReader(const std::vector<Event>& events) : events_(events), places_(events) {}

  RecordedRequests read() {
    for (std::size_t at = 0; at < events_.size(); ++at) {
      requests_[places_.of(events_[at].run.session)];
      read(at, open_[events_[at].run.session]);
    }
    return std::move(requests_);
  }

 private:
  // Of a session, so far.
  struct Open {
    RecordedRequest request;
    bool is_reserved = false;
    std::size_t calls = 0;  // of its last reply, without a result
  };

  void read(std::size_t at, Open& open) {
    const Fact& fact = events_[at].fact;
    if (std::holds_alternative<TakenUp>(fact)) {
      for (auto& [session, each] : open_) each.is_reserved = false;  // by a program that is gone
    } else if (std::holds_alternative<BudgetReserved>(fact)) {
      open.is_reserved = true;
    } else if (const auto* retried = std::get_if<Retried>(&fact)) {
      open.request.retries.emplace_back(at, *retried);
    } else if (const auto* stopped = std::get_if<RequestStopped>(&fact)) {
      open.request.stopped = *stopped;
      end(at, open);
    } else if (const auto* compacted = std::get_if<Compacted>(&fact)) {
      reply(at, open, compacted->reply);
    } else if (const auto* received = std::get_if<ReplyReceived>(&fact)) {
      open.calls = received->reply.message.calls.size();
      reply(at, open, received->reply);
    } else if (std::holds_alternative<CallFinished>(fact)) {
      open.calls -= std::min<std::size_t>(open.calls, 1);
    } else if (const auto* ended = std::get_if<RunEnded>(&fact)) {
      if (open.calls == 0 && !is_given_up(fact)) end_with_its_run(at, open, *ended->report);
      open.calls = 0;
    }
  }

  void reply(std::size_t at, Open& open, const Reply& reply) {
    if (reply.stop != ReplyStop::over_budget) {
      open.request.reply = reply;
      return end(at, open);
    }
    if (!open.is_reserved) return;
    if (!open.request.retries.empty()) {
      open.request.stopped.usage = reply.usage;  // an attempt that failed had used up what there was
      return end(at, open);
    }
    open.request.reply = reply;
    open.request.reply->stop =
        ReplyStop::output_limit;  // what the budget makes of it where its cap was lowered
    end(at, open);
  }

  void end_with_its_run(std::size_t at, Open& open, const Report& report) {
    constexpr std::string_view kBug = "a bug in deputy: ";
    for (const ReportedError& error : report.errors) {
      open.request.is_deaf = error.code == kForcedEnd;
      if (open.request.is_deaf) return end(at, open);
      if (!error.message.starts_with(kBug)) continue;
      open.request.bug = error.message.substr(kBug.size());
      return end(at, open);
    }
  }

  void end(std::size_t at, Open& open) {
    RecordedRequest request = std::exchange(open.request, {});
    open.is_reserved = false;
    request.event = at;
    requests_[places_.of(events_[at].run.session)].push_back(std::move(request));
  }

  const std::vector<Event>& events_;
  const Places places_;
  std::map<SessionId, Open> open_;
  RecordedRequests requests_;
};

}  // namespace

RecordedRequests requests_in(const std::vector<Event>& events) { return RequestReader(events).read(); }

std::string script_of(const RecordedRequests& requests) {
  json::array sessions;
  for (const auto& [place, made] : requests) {
    json::array said;
    for (const RecordedRequest& request : made)
      said.push_back(request.reply ? reply_json(*request.reply) : json::value(json::object{}));
    sessions.push_back(json::object{{"match", json::object{{"label", place}}}, {"replies", std::move(said)}});
  }
  return to_json_text(json::object{{"v", 1}, {"sessions", std::move(sessions)}});
}

}  // namespace deputy
