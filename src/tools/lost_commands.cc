#include "tools/lost_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "tools/bash.h"

namespace deputy {
namespace {

// That the event's call is for; nothing for any but Bash.
std::optional<LostCommand> command_of(const Event& event, const std::vector<Call>& calls) {
  const auto index = static_cast<std::size_t>(event.call);
  if (event.call < 0 || index >= calls.size() || calls[index].name != "Bash") return std::nullopt;
  const auto arguments = parse_json_object(calls[index].arguments);
  if (!arguments) return std::nullopt;
  return LostCommand{{event.run, event.step, event.call},
                     string_or(*arguments, "command", ""),
                     event.at,
                     bool_at(*arguments, "run_in_background").value_or(false)};
}

// Then nobody waited for its commands to end.
bool was_forced(const RunEnded& ended) {
  return std::ranges::find(ended.report->errors, kForcedEnd, &ReportedError::code) !=
         ended.report->errors.end();
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
  std::vector<LostCommand> lost;
  std::vector<LostCommand> open;  // calls that were begun and have no result
  std::set<std::string> told;
  std::vector<Call> calls;
  for (const Event& event : events) {
    const auto is_of_event = [&event](const LostCommand& each) { return is_of(event, each); };
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) calls = reply->reply.message.calls;
    if (const auto* nudge = std::get_if<Nudged>(&event.fact)) told.insert(nudge->id);
    if (const auto* run = std::get_if<RunEnded>(&event.fact)) {
      if (!was_forced(*run)) std::erase_if(lost, &LostCommand::is_in_background);  // they had ended before it
      std::ranges::move(std::exchange(open, {}), std::back_inserter(lost));
    }
    if (const auto* ended = std::get_if<CommandEnded>(&event.fact)) {
      for (auto* list : {&lost, &open})
        for (LostCommand& each : *list | std::views::filter(is_of_event))
          each.exit_status = ended->exit_status;
    }
    if (std::holds_alternative<CallStarted>(event.fact)) {
      if (auto command = command_of(event, calls)) {
        command->has_result = false;
        open.push_back(*std::move(command));
      }
    }
    if (const auto* finished = std::get_if<CallFinished>(&event.fact)) {
      std::erase_if(open, is_of_event);
      auto command = finished->result.status == ToolStatus::ok ? command_of(event, calls) : std::nullopt;
      if (command && command->is_in_background) lost.push_back(*std::move(command));
    }
  }
  std::erase_if(lost, [&told](const LostCommand& each) { return told.contains(nudge_id(each.call)); });
  return lost;
}

Nudged told_of(const LostCommand& lost, const std::optional<CommandRecord>& record,
               std::string_view evidence) {
  return {.id = nudge_id(lost.call),
          .source = Source::runtime,
          .text = fmt::format("{} ({}) {}: it {}.{}{}",
                              lost.is_in_background ? "The background command " + background_id(lost.call)
                                                    : "The command of your last run",
                              shorten(on_one_line(lost.command), 120),
                              lost.is_in_background ? "does not run any more" : "that was given no result",
                              how_it_went(lost, record), evidence.empty() ? "" : " ", evidence)};
}

}  // namespace deputy
