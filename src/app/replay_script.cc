#include "app/replay_script.h"

#include <algorithm>
#include <map>

#include "app/replayed_tool.h"
#include "base/json.h"

namespace deputy {
namespace {

constexpr std::int64_t kLongestWaitMs = 24 * 60 * 60 * 1000;  // that a script may say

json::value reply_json(const Reply& reply, WallTime::duration took) {
  json::array calls;
  for (const Call& call : reply.message.calls)
    calls.push_back(json::object{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  json::object usage{{"input", reply.usage.input},
                     {"output", reply.usage.output},
                     {"cache_read", reply.usage.cache_read},
                     {"cache_write", reply.usage.cache_write}};
  if (reply.usage.cost_micros) usage["cost_micros"] = *reply.usage.cost_micros;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(took).count();
  json::object scripted{{"text", reply.message.text},
                        {"calls", std::move(calls)},
                        {"usage", std::move(usage)},
                        {"first_byte_ms", std::clamp<std::int64_t>(ms, 0, kLongestWaitMs)}};
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

std::string script_of(const std::vector<Event>& events) {
  const auto places = places_in(events);
  std::map<SessionId, WallTime> last;  // event of each
  std::map<std::string, json::array> replies;
  for (const Event& event : events) {
    const auto before = last.contains(event.run.session) ? last.at(event.run.session) : event.at;
    last[event.run.session] = event.at;
    auto& said = replies[places.at(event.run.session)];
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact))
      said.push_back(reply_json(reply->reply, event.at - before));
  }
  json::array sessions;
  for (auto& [place, said] : replies)
    sessions.push_back(json::object{{"match", json::object{{"label", place}}}, {"replies", std::move(said)}});
  return to_json_text(json::object{{"v", 1}, {"sessions", std::move(sessions)}});
}

}  // namespace deputy
