// Why a command ended without doing its work: an Error and what to tell the shell. An Error that nobody says
// more about is a failure (1); what the person typed wrongly is usage (2).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "app/exit_status.h"
#include "base/json.h"
#include "base/result.h"

namespace deputy {

struct CommandFailure {
  Error error;
  ExitStatus status = ExitStatus::failed;

  CommandFailure(Error why,
                 ExitStatus told = ExitStatus::failed)  // NOLINT: a CommandFailure may be made from any Error
      : error(std::move(why)), status(told) {}
};

template <class T>
using OrFailure = std::expected<T, CommandFailure>;
// How a command ends.
using Ended = OrFailure<ExitStatus>;

inline std::unexpected<CommandFailure> misused(std::string message, std::string advice = {}) {
  return std::unexpected(
      CommandFailure({ErrorCode::invalid, std::move(message), std::move(advice)}, ExitStatus::usage));
}

// What was named is not there.
inline std::unexpected<CommandFailure> not_there(std::string message, std::string advice) {
  return std::unexpected(
      CommandFailure({ErrorCode::not_found, std::move(message), std::move(advice)}, ExitStatus::usage));
}

// The same result, its Error counted as the person's mistake.
template <class T>
OrFailure<T> or_misused(Result<T> result) {
  if (!result) return std::unexpected(CommandFailure(std::move(result).error(), ExitStatus::usage));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

// "deputy: what; what to do", on one line, nothing invisible in it.
std::string error_line(const Error& error);

// The same text, each command line of deputy in it (between backticks) as it works where the program was
// started under another name, or with a state folder; both are quoted for a shell.
std::string as_typed(std::string_view text, std::string_view name, std::string_view home);
// The same for the help of a command, where they also stand on lines of their own: by that name. They are
// examples, and some are half of a pipe.
std::string help_as_typed(std::string_view help, std::string_view name);
// What went wrong, as every document of `--output json` says it.
json::object error_json(std::string_view code, std::string_view message, std::string_view advice);
// The document of a command that came to no result.
json::object to_json(const CommandFailure& failure);

}  // namespace deputy
