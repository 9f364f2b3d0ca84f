#include "transcript/codec.h"
#include "transcript/codec_parts.h"
#include "transcript/names.h"

namespace deputy {

json::object to_json(const FileChange& change) {
  return {{"path", change.path}, {"before", change.before}, {"after", change.after}};
}

FileChange file_change_from_json(const json::object& value) {
  return {string_or(value, "path", ""), string_or(value, "before", ""), string_or(value, "after", "")};
}

std::optional<int> exit_status_at(const json::object& value) {
  const auto status = integer_at(value, "exit_status");
  return status ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

json::object to_json(const Report& report) {
  json::object value{{"status", name_of(report.status)}};
  if (report.reason != Reason::none) value["reason"] = name_of(report.reason);
  value["summary"] = report.summary;
  value["body"] = report.body;
  auto& artifacts = value["artifacts"].emplace_array();
  for (const auto& each : report.artifacts) {
    artifacts.emplace_back(
        json::object{{"path", each.path}, {"kind", each.kind}, {"description", each.description}});
  }
  auto& errors = value["errors"].emplace_array();
  for (const auto& each : report.errors) {
    errors.emplace_back(json::object{{"type", each.type},
                                     {"code", each.code},
                                     {"message", each.message},
                                     {"recoverable", each.recoverable},
                                     {"recommendation", each.recommendation}});
  }
  value["next_steps"] = strings(report.next_steps);
  auto& files = value["files"].emplace_array();
  for (const auto& each : report.files) files.emplace_back(to_json(each));
  auto& commands = value["commands"].emplace_array();
  for (const auto& each : report.commands) {
    json::object command{{"command", each.command}, {"exit_status", nullptr}};
    if (each.exit_status) command["exit_status"] = *each.exit_status;
    commands.emplace_back(std::move(command));
  }
  value["metadata"] = json::object{{"session_id", report.session.value},
                                   {"agent", report.agent},
                                   {"label", report.label},
                                   {"depth", report.depth},
                                   {"path", strings(report.path)},
                                   {"model", report.model.value},
                                   {"started_at_us", micros(report.started_at)},
                                   {"duration_ns", report.duration.count()},
                                   {"usage", to_json(report.usage)},
                                   {"steps", report.steps},
                                   {"questions", report.questions},
                                   {"workspace", json::object{{"mode", name_of(report.workspace.mode)},
                                                              {"path", report.workspace.path},
                                                              {"branch", report.workspace.branch},
                                                              {"diff", report.workspace.diff}}}};
  return value;
}

Result<Report> report_from_json(const json::object& value) {
  Report report;
  TRY(report.status, enum_at(value, "status", kStatuses, Status::completed));
  TRY(report.reason, enum_at(value, "reason", kReasons, Reason::none));
  report.summary = string_or(value, "summary", "");
  report.body = string_or(value, "body", "");
  if (const auto* artifacts = array_at(value, "artifacts")) {
    for (const auto& each : *artifacts) {
      TRY(const auto* artifact, as_object(each, "an artifact"));
      report.artifacts.push_back({string_or(*artifact, "path", ""), string_or(*artifact, "kind", ""),
                                  string_or(*artifact, "description", "")});
    }
  }
  if (const auto* errors = array_at(value, "errors")) {
    for (const auto& each : *errors) {
      TRY(const auto* error, as_object(each, "an error"));
      report.errors.push_back(
          {string_or(*error, "type", ""), string_or(*error, "code", ""), string_or(*error, "message", ""),
           bool_at(*error, "recoverable").value_or(false), string_or(*error, "recommendation", "")});
    }
  }
  report.next_steps = strings_at(value, "next_steps");
  if (const auto* files = array_at(value, "files")) {
    for (const auto& each : *files) {
      TRY(const auto* file, as_object(each, "a file"));
      report.files.push_back(file_change_from_json(*file));
    }
  }
  if (const auto* commands = array_at(value, "commands")) {
    for (const auto& each : *commands) {
      TRY(const auto* command, as_object(each, "a command"));
      report.commands.push_back({string_or(*command, "command", ""), exit_status_at(*command)});
    }
  }
  if (const auto* metadata = object_at(value, "metadata")) {
    report.session = SessionId(string_or(*metadata, "session_id", ""));
    report.agent = string_or(*metadata, "agent", "");
    report.label = string_or(*metadata, "label", "");
    report.depth = static_cast<int>(integer_or(*metadata, "depth", 0));
    report.path = strings_at(*metadata, "path");
    report.model = ModelName(string_or(*metadata, "model", ""));
    report.started_at = wall_at(*metadata, "started_at_us");
    report.duration = Duration{integer_or(*metadata, "duration_ns", 0)};
    if (const auto* usage = object_at(*metadata, "usage")) {
      TRY(report.usage, usage_from_json(*usage));
    }
    report.steps = static_cast<int>(integer_or(*metadata, "steps", 0));
    report.questions = static_cast<int>(integer_or(*metadata, "questions", 0));
    if (const auto* workspace = object_at(*metadata, "workspace")) {
      report.workspace = {
          value_in(kWorkspaceModes, string_or(*workspace, "mode", "")).value_or(WorkspaceMode::read_only),
          string_or(*workspace, "path", ""), string_or(*workspace, "branch", ""),
          string_or(*workspace, "diff", "")};
    }
  }
  return report;
}

std::string_view batch_status(Status status) {
  switch (status) {
    case Status::completed:
      return "ok";
    case Status::partial:
    case Status::blocked:
      return "partial";
    case Status::failed:
    case Status::cancelled:
      break;
  }
  return "error";
}

}  // namespace deputy
