#include "app/replay_script.h"

#include <set>

#include "app/replayed_tool.h"
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

}  // namespace

RecordedRequests requests_in(const std::vector<Event>& events) {
  const auto places = places_in(events);
  RecordedRequests requests;
  std::map<SessionId, RecordedRequest> open;
  std::set<SessionId> reserved;
  for (const Event& event : events) {
    const SessionId& session = event.run.session;
    auto& ended = requests[places.at(session)];
    const auto end = [&] {
      open[session].ended_at = event.at;
      ended.push_back(std::exchange(open[session], {}));
      reserved.erase(session);
    };
    if (std::holds_alternative<TakenUp>(event.fact)) {
      reserved.clear();  // by a program that is gone
    } else if (std::holds_alternative<BudgetReserved>(event.fact)) {
      reserved.insert(session);
    } else if (const auto* retried = std::get_if<Retried>(&event.fact)) {
      open[session].retries.emplace_back(event.at, *retried);
    } else if (const auto* stopped = std::get_if<RequestStopped>(&event.fact)) {
      open[session].stopped = *stopped;
      end();
    } else if (const auto* compacted = std::get_if<Compacted>(&event.fact)) {
      open[session].reply = compacted->reply;
      end();
    } else if (const auto* received = std::get_if<ReplyReceived>(&event.fact)) {
      const Reply& reply = received->reply;
      if (reply.stop == ReplyStop::over_budget && !reserved.contains(session)) continue;
      if (reply.stop == ReplyStop::over_budget && !open[session].retries.empty()) {
        open[session].stopped.usage = reply.usage;  // an attempt that failed had used up what there was
      } else {
        open[session].reply = reply;
        // What the budget makes of an answer that its lowered cap has cut off.
        if (reply.stop == ReplyStop::over_budget) open[session].reply->stop = ReplyStop::output_limit;
      }
      end();
    }
  }
  return requests;
}

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
