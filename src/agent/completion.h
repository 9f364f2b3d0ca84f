// What a child says of its own work when it calls task_completion: the part of a Report that is its to say.
// Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "transcript/report.h"

namespace deputy {

inline constexpr std::string_view kCompletionTool = "task_completion";

struct Completion {
  Status status = Status::completed;  // never cancelled
  std::string summary;
  std::string body;      // the summary, where it said no more; JSON text where it gave more than text
  bool is_data = false;  // the body is JSON: nothing is put before it
  std::vector<Artifact> artifacts = {};
  std::vector<ReportedError> errors = {};
  std::vector<std::string> next_steps = {};
};

// Of arguments that the tool's schema has found valid.
Completion completion_of(const json::object& arguments);

}  // namespace deputy
