#include "tools/lost_commands.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "tools/bash.h"

namespace deputy {
namespace {

// The command of a call that started one in the background; nothing for any other.
std::optional<std::string> background_command(const Call& call) {
  if (call.name != "Bash") return std::nullopt;
  const auto arguments = parse_json_object(call.arguments);
  if (!arguments || !bool_at(*arguments, "run_in_background").value_or(false)) return std::nullopt;
  return string_or(*arguments, "command", "");
}

}  // namespace

std::vector<Nudged> lost_commands(const std::vector<Event>& events) {
  std::map<std::string, std::string> started;  // commands, by id
  std::set<std::string> told;
  std::vector<Call> calls;
  for (const Event& event : events) {
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) calls = reply->reply.message.calls;
    if (const auto* nudge = std::get_if<Nudged>(&event.fact)) told.insert(nudge->id);
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    const auto index = static_cast<std::size_t>(event.call);
    if (!finished || finished->result.status != ToolStatus::ok || event.call < 0 || index >= calls.size())
      continue;
    if (auto command = background_command(calls[index]))
      started.emplace(background_id({.step = event.step, .index = event.call}), *std::move(command));
  }
  std::vector<Nudged> lost;
  for (const auto& [id, command] : started) {
    std::string nudge = fmt::format("lost_{}", id);
    if (told.contains(nudge)) continue;
    lost.push_back(
        {.id = std::move(nudge),
         .source = Source::runtime,
         .text = fmt::format("The background command {} ({}) does not run any more: it ended when this "
                             "session was stopped, if not before, and its output is lost. Start it again "
                             "if it is still needed.",
                             id, shorten(on_one_line(command), 120))});
  }
  return lost;
}

}  // namespace deputy
