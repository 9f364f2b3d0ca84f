// Where a conversation stands: what was asked last, what has been called since and what came of it. Computed
// from the messages alone, so the next step is the same after a resume.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/rehearsal_findings.h"
#include "transcript/message.h"

namespace deputy {

struct RunSoFar {
  std::string prompt;
  std::vector<Answered> answered;
  std::vector<std::string> nudges;  // what a person or the parent said while it ran
  bool report_now = false;          // the runtime wants the report in the next reply
  bool wants_completion = false;    // the runtime wants `last_text` handed in by task_completion
  std::string last_text;

  const Answered* first_call_of(std::string_view tool) const;
  bool has_called(std::string_view tool) const { return first_call_of(tool) != nullptr; }
};

// A run begins with what is said after a reply without calls, or with the first message.
RunSoFar run_so_far(std::span<const Message> messages);

}  // namespace deputy
