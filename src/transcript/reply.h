// How one model call ended. A failure is a Reply too: its stop says so and `error` says what a person should
// know.
#pragma once

#include <string>
#include <string_view>

#include "transcript/ids.h"
#include "transcript/message.h"
#include "transcript/usage.h"

namespace deputy {

enum class ReplyStop {
  finished,           // the model had said all
  calls,              // it waits for the results of its calls
  paused,             // the provider's own tools need another request, with this turn sent back
  output_limit,       // cut off by the output cap: its last call may be half written
  context_exhausted,  // the conversation no longer fits the window
  refused,            // the provider's policy declined
  failed,             // after all retries
  stalled,            // the same, where the model fell silent
  no_key,
  over_budget,  // not asked, or cut short: it could have cost more than there is
  stopped,      // our own StopToken
};

// Whether the request was given up without an answer, whatever it cost.
constexpr bool is_failure(ReplyStop stop) { return stop == ReplyStop::failed || stop == ReplyStop::stalled; }

struct Reply {
  ReplyStop stop = ReplyStop::finished;
  ModelName model;
  Message message;
  Usage usage;
  std::string error;
  bool operator==(const Reply&) const = default;
};

std::string_view name_of(ReplyStop stop);

}  // namespace deputy
