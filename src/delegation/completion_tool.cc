#include "delegation/completion_tool.h"

#include <fmt/format.h>

#include <memory>

#include "agent/completion.h"
#include "base/json_schema.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    "Hands in your report and ends your work. Say completed only if all of the task is done; blocked needs "
    "an error that names what blocks you.";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"status":{"type":"string","enum":["completed","partial","failed","blocked"]},
"summary":{"type":"string","minLength":1,"maxLength":500,"description":"the outcome in a few sentences"},
"body":{"type":"string","description":"the whole report; the summary if absent"},
"artifacts":{"type":"array","maxItems":100,"description":"files that you made or changed","items":{"type":"object","properties":{
"path":{"type":"string","minLength":1},"kind":{"type":"string"},"description":{"type":"string"}},
"required":["path"],"additionalProperties":false}},
"errors":{"type":"array","maxItems":50,"items":{"type":"object","properties":{
"type":{"type":"string","minLength":1},"code":{"type":"string"},"message":{"type":"string","minLength":1},
"recoverable":{"type":"boolean"},"recommendation":{"type":"string"}},
"required":["type","message"],"additionalProperties":false}},
"next_steps":{"type":"array","maxItems":50,"items":{"type":"string","minLength":1}},
"session_id":{"type":"string","description":"may be left out"}},
"required":["status","summary"],
"additionalProperties":false})json";

// The body is the profile's schema. What that defines for its own references moves to the root, where they
// point.
Result<std::string> schema_with_body(std::string_view output_schema) {
  TRY(auto whole, parse_json_object(kSchema));
  TRY(auto body, parse_json_object(output_schema));
  TRY(JsonSchema::compile(body));
  for (const auto* key : {"definitions", "$defs"}) {
    if (const auto* defined = find(body, key)) whole[key] = *defined;
    body.erase(key);
  }
  body.erase("$schema");
  whole["properties"].as_object()["body"] = std::move(body);
  whole["required"].as_array().emplace_back("body");
  TRY(JsonSchema::compile(whole));
  return to_json_text(whole);
}

// What the schema cannot say. Nothing where all is well.
std::optional<std::string> mistake_in(const json::object& arguments, const Session& session) {
  if (const auto id = string_at(arguments, "session_id"); id && *id != session.id.value)
    return fmt::format("session_id is '{}', and that is not you. Leave it out", shorten(*id, 64));
  const Completion completion = completion_of(arguments);
  if (trimmed(completion.summary).empty()) return "summary is blank. Say what came of the task";
  if (completion.status == Status::blocked && completion.errors.empty())
    return "status is blocked, and errors is empty. Name what blocks you in errors";
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<CompletionTool>> CompletionTool::make(std::string_view output_schema) {
  std::string schema(kSchema);
  if (!output_schema.empty()) {
    TRY(schema, schema_with_body(output_schema));
  }
  return std::shared_ptr<CompletionTool>(
      new CompletionTool({std::string(kCompletionTool), std::string(kDescription), std::move(schema)}));
}

std::string CompletionTool::shown(const json::object& arguments) const {
  return shorten(on_one_line(fmt::format("{}: {}", string_or(arguments, "status", ""),
                                         string_or(arguments, "summary", ""))),
                 80);
}

Task<ToolResult> CompletionTool::run(json::object arguments, ToolContext context) {
  if (const auto mistake = mistake_in(arguments, context.session))
    co_return tool_error(
        fmt::format("The report is not valid: {}, and call task_completion again.", *mistake));
  co_return tool_ok("Reported.");
}

}  // namespace deputy
