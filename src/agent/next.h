// What a run does next: a pure decision over what has happened so far.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "agent/conversation.h"
#include "agent/mail.h"
#include "async/stop.h"
#include "transcript/report.h"

namespace deputy {

struct AskModel {};
struct RunCalls {};
struct TakeMail {};
struct AwaitMail {};
struct Finish {
  Status status = Status::completed;
  Reason reason = Reason::none;
  std::string error;  // what a person should know, where something went wrong
  bool operator==(const Finish&) const = default;
};
// Leave the run as it is, without a terminal record: it will be resumed.
struct Suspend {};

using Next = std::variant<AskModel, RunCalls, TakeMail, AwaitMail, Finish, Suspend>;

struct RunLimits {
  std::optional<int> max_turns;
};

Next decide(const Conversation& conversation, const RunLimits& limits, StopReason stop,
            MailState mail = MailState::none);

// The report of a run that ends here: its text, or what there is of it, with the runtime's own knowledge of
// the run.
Report report_of(const Conversation& conversation, const Session& session, const Finish& finish,
                 WallTime now);

}  // namespace deputy
