#include "tools/task_tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kStatusDescription =
    R"(Tells how your background tasks stand: all, or one by id.)";
constexpr std::string_view kStatusSchema = R"json({
"type":"object",
"properties":{
"id":{"type":"string"},
"wait_seconds":{"type":"integer","minimum":0,"maximum":600,"description":"wait so long for it to end (0)"}},
"additionalProperties":false})json";

constexpr std::string_view kCancelDescription = R"(Ends one of your background tasks.)";
constexpr std::string_view kCancelSchema = R"json({
"type":"object",
"properties":{"id":{"type":"string","minLength":1}},
"required":["id"],
"additionalProperties":false})json";

constexpr std::string_view kMessageDescription =
    R"(Writes to a subagent that runs in the background. It reads the message between two of its steps.)";
constexpr std::string_view kMessageSchema = R"json({
"type":"object",
"properties":{"id":{"type":"string","minLength":1},"text":{"type":"string","minLength":1,"maxLength":16384}},
"required":["id","text"],
"additionalProperties":false})json";

constexpr std::size_t kHeadings = 64 * 1024;  // of what is told of each, and the path of what is not

using Sources = std::vector<BackgroundWork*>;

std::vector<std::string> all_ids(const Sources& sources, const SessionId& owner) {
  std::vector<std::string> ids;
  for (const auto* source : sources) std::ranges::copy(source->ids_of(owner), std::back_inserter(ids));
  return ids;
}

BackgroundWork* source_of(const Sources& sources, const SessionId& owner, const std::string& id) {
  for (auto* source : sources) {
    const auto ids = source->ids_of(owner);
    if (std::ranges::find(ids, id) != ids.end()) return source;
  }
  return nullptr;
}

ToolResult unknown(const Sources& sources, const SessionId& owner, const std::string& id) {
  const auto ids = all_ids(sources, owner);
  return tool_error(fmt::format(
      "You have no background task {}. {}", id,
      ids.empty() ? "None was started since this program began: one that ran before was ended with it."
                  : fmt::format("You have: {}.", fmt::join(ids, ", "))));
}

// The given one, or the first that runs.
Task<> wait_for(Sources sources, SessionId owner, std::vector<std::string> ids, TimePoint until,
                StopToken stop) {
  for (const auto& id : ids) {
    BackgroundWork* source = source_of(sources, owner, id);
    if (source && source->is_running(owner, id)) co_return co_await source->wait(owner, id, until, stop);
  }
}

}  // namespace

const ToolText& TaskStatusTool::text() const {
  static const ToolText text{"task_status", std::string(kStatusDescription), std::string(kStatusSchema)};
  return text;
}

std::size_t TaskStatusTool::most_result_bytes() const { return bounds_.all + kHeadings; }

std::string TaskStatusTool::shown(const json::object& arguments) const {
  return string_or(arguments, "id", "all");
}

Task<ToolResult> TaskStatusTool::run(json::object arguments, ToolContext context) {
  const SessionId owner = context.session.id;
  const auto wanted = string_at(arguments, "id");
  if (wanted && !source_of(sources_, owner, *wanted)) co_return unknown(sources_, owner, *wanted);
  const auto ids = wanted ? std::vector{*wanted} : all_ids(sources_, owner);
  if (ids.empty()) co_return tool_ok("You have no background tasks.");
  if (const auto seconds = integer_or(arguments, "wait_seconds", 0); seconds > 0) {
    const TimePoint until = context.loop.clock().now() + std::chrono::seconds(seconds);
    co_await wait_for(sources_, owner, ids, until, context.stop);
  }
  const std::size_t most = std::min(bounds_.one, bounds_.all / ids.size());
  std::string text;
  for (const auto& id : ids) {
    if (!text.empty()) text += "\n\n";
    if (auto* source = source_of(sources_, owner, id)) text += co_await source->told(owner, id, most);
  }
  co_return tool_ok(std::move(text));
}

const ToolText& TaskCancelTool::text() const {
  static const ToolText text{"task_cancel", std::string(kCancelDescription), std::string(kCancelSchema)};
  return text;
}

std::size_t TaskCancelTool::most_result_bytes() const { return bounds_.one + kHeadings; }

std::string TaskCancelTool::shown(const json::object& arguments) const {
  return string_or(arguments, "id", "");
}

Task<ToolResult> TaskCancelTool::run(json::object arguments, ToolContext context) {
  const SessionId owner = context.session.id;
  const std::string id = string_or(arguments, "id", "");
  BackgroundWork* source = source_of(sources_, owner, id);
  if (!source) co_return unknown(sources_, owner, id);
  source->cancel(owner, id);
  co_await source->wait(owner, id, {}, context.stop);
  co_return tool_ok(co_await source->told(owner, id, bounds_.one));
}

const ToolText& TaskMessageTool::text() const {
  static const ToolText text{"task_message", std::string(kMessageDescription), std::string(kMessageSchema)};
  return text;
}

std::string TaskMessageTool::shown(const json::object& arguments) const {
  return string_or(arguments, "id", "");
}

std::string TaskMessageTool::in_full(const json::object& arguments) const {
  return fmt::format("{}: {}", shown(arguments), string_or(arguments, "text", ""));
}

Task<ToolResult> TaskMessageTool::run(json::object arguments, ToolContext context) {
  const SessionId owner = context.session.id;
  const std::string id = string_or(arguments, "id", "");
  BackgroundWork* source = source_of(sources_, owner, id);
  if (!source) co_return unknown(sources_, owner, id);
  const auto sent =
      co_await source->message(owner, id, to_utf8(string_or(arguments, "text", "")), context.id);
  if (!sent) co_return tool_error(fmt::format("The message was not sent: {}.", to_text(sent.error())));
  co_return tool_ok(fmt::format("Sent. {} reads it before its next step.", id));
}

}  // namespace deputy
