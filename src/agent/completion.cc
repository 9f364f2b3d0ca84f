#include "agent/completion.h"

namespace deputy {
namespace {

Status status_at(const json::object& arguments) {
  const std::string status = string_or(arguments, "status", "");
  for (const Status each : {Status::partial, Status::failed, Status::blocked}) {
    if (status == name_of(each)) return each;
  }
  return Status::completed;
}

std::string body_at(const json::object& arguments) {
  const json::value* body = find(arguments, "body");
  if (!body || body->is_null()) return string_or(arguments, "summary", "");
  return body->is_string() ? std::string(body->get_string()) : to_json_text(*body);
}

std::vector<const json::object*> objects_at(const json::object& arguments, std::string_view key) {
  std::vector<const json::object*> objects;
  const auto* array = array_at(arguments, key);
  if (!array) return objects;
  for (const auto& each : *array) {
    if (const auto* object = each.if_object()) objects.push_back(object);
  }
  return objects;
}

}  // namespace

Completion completion_of(const json::object& arguments) {
  const json::value* body = find(arguments, "body");
  Completion completion{.status = status_at(arguments),
                        .summary = string_or(arguments, "summary", ""),
                        .body = body_at(arguments),
                        .is_data = body && !body->is_null() && !body->is_string()};
  for (const auto* each : objects_at(arguments, "artifacts")) {
    completion.artifacts.push_back({string_or(*each, "path", ""), string_or(*each, "kind", "file"),
                                    string_or(*each, "description", "")});
  }
  for (const auto* each : objects_at(arguments, "errors")) {
    completion.errors.push_back(
        {string_or(*each, "type", "error"), string_or(*each, "code", ""), string_or(*each, "message", ""),
         bool_at(*each, "recoverable").value_or(false), string_or(*each, "recommendation", "")});
  }
  if (const auto* steps = array_at(arguments, "next_steps")) {
    for (const auto& step : *steps) {
      if (step.is_string()) completion.next_steps.emplace_back(step.get_string());
    }
  }
  return completion;
}

}  // namespace deputy
