// What a run does next: a pure decision over what has happened so far.
#pragma once

#include <chrono>
#include <cstdint>
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
struct Compact {};  // ask the model to sum up what was said, and go on from that
struct TakeMail {};
struct AwaitMail {};
// Say something to the model, in the runtime's own name, before it is asked again.
struct Tell {
  Reason about = Reason::none;
  std::string text;
};
struct Finish {
  Status status = Status::completed;
  Reason reason = Reason::none;
  std::string error;  // what a person should know, where something went wrong
  bool operator==(const Finish&) const = default;
};
// Leave the run as it is, without a terminal record: it will be resumed.
struct Suspend {};

using Next = std::variant<AskModel, RunCalls, Compact, TakeMail, AwaitMail, Tell, Finish, Suspend>;

// Whether a run may, or must, end with a call of task_completion.
enum class Reporting { none, offered, demanded };

struct RunLimits {
  std::optional<int> max_turns = {};
  std::optional<int> max_context_tokens = {};
  std::optional<int> max_messages = {};
  std::int64_t prefix_tokens = 0;  // what system prompt and tools come to: both limits of tokens count them
  // How many tokens a conversation may come to before it is compacted; nothing: it never is.
  std::optional<std::int64_t> compact_above = {};
  Reporting reporting = Reporting::none;
  // Tokens or dollars are limited: what is kept for its last step is enough for a report alone.
  bool is_on_budget = false;
  // Then a limit of steps, time or money leaves it one grace step, and going round in circles ends it.
  bool is_delegated = false;
};

inline constexpr int kCorrections = 2;    // of a report that will not do
inline constexpr int kRepeatsToWarn = 3;  // of one call with the same result
inline constexpr int kRepeatsToEnd = 5;
inline constexpr int kPausesToEnd = 8;  // of the provider's, one after the other
// How long nothing may be heard of a session that has no deadline and waits for nobody, and how long one may
// stand in line for a place to run.
inline constexpr Duration kLongestSilence = std::chrono::hours(24);

Next decide(const Conversation& conversation, const RunLimits& limits, StopReason stop,
            MailState mail = MailState::none);

// What an error of that kind is called by programs: "MAX_TURNS".
std::string code_of(Reason reason);
// "not_found" as "NOT_FOUND", as codes are written.
std::string in_capitals(std::string_view name);

// The report of a run that ends here: what it reported itself, else its text, or what there is of it; with
// the runtime's own knowledge of the run.
Report report_of(const Conversation& conversation, const Session& session, const Finish& finish,
                 WallTime now);

}  // namespace deputy
