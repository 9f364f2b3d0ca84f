#include "tools/lost_commands.h"

#include <fmt/format.h>

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

std::string nudge_id(const CallId& call) { return fmt::format("lost_{}", background_id(call)); }

std::string how_it_went(const LostCommand& lost, const std::optional<CommandRecord>& record) {
  const auto written = record ? record->status.exit_status : std::nullopt;
  if (const auto status = lost.exit_status ? lost.exit_status : written) {
    return fmt::format(
        "had ended{} with exit status {} before this session was stopped or with it. What you have not seen "
        "of its output is lost",
        record && record->status.timed_out ? " because its time was up," : "", *status);
  }
  if (record && !record->had_begun())
    return "had not begun when this session was stopped: it was not run. Start it again if it is still "
           "needed";
  return "was ended in the middle when this session was stopped: how far it came is unknown, and its output "
         "is lost. Check what it would have changed before you start it again";
}

// Whether the event is of the call that started it.
bool is_of(const Event& event, const LostCommand& started) {
  return event.run == started.call.run && event.step == started.call.step && event.call == started.call.index;
}

}  // namespace

std::vector<LostCommand> lost_commands(const std::vector<Event>& events) {
  std::vector<LostCommand> started;
  std::set<std::string> told;
  std::vector<Call> calls;
  for (const Event& event : events) {
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) calls = reply->reply.message.calls;
    if (const auto* nudge = std::get_if<Nudged>(&event.fact)) told.insert(nudge->id);
    if (std::holds_alternative<RunEnded>(event.fact)) started.clear();  // they had ended before it
    if (const auto* ended = std::get_if<CommandEnded>(&event.fact)) {
      for (LostCommand& each : started)
        if (is_of(event, each)) each.exit_status = ended->exit_status;
    }
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    const auto index = static_cast<std::size_t>(event.call);
    if (!finished || finished->result.status != ToolStatus::ok || event.call < 0 || index >= calls.size())
      continue;
    if (auto command = background_command(calls[index]))
      started.push_back({{event.run, event.step, event.call}, *std::move(command)});
  }
  std::erase_if(started, [&told](const LostCommand& each) { return told.contains(nudge_id(each.call)); });
  return started;
}

Nudged told_of(const LostCommand& lost, const std::optional<CommandRecord>& record,
               std::string_view evidence) {
  return {.id = nudge_id(lost.call),
          .source = Source::runtime,
          .text = fmt::format("The background command {} ({}) does not run any more: it {}.{}{}",
                              background_id(lost.call), shorten(on_one_line(lost.command), 120),
                              how_it_went(lost, record), evidence.empty() ? "" : " ", evidence)};
}

}  // namespace deputy
