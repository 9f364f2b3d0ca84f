// What comes back from a run: the Outcome it ended with, and the Report its parent or the person reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "transcript/ids.h"
#include "transcript/usage.h"
#include "transcript/workspace.h"

namespace deputy {

enum class Status { completed, partial, failed, blocked, cancelled };

enum class Reason {
  none,  // completed needs none
  context_exhausted,
  output_limit,
  timeout,
  stalled,
  max_turns,
  budget,
  repetition,
  no_text,
  invalid_report,
  provider_error,
  no_api_key,
  denied,
  question_unanswered,
  cancelled_by_user,
  cancelled_by_parent,
  parent_stopped,
  internal,
  reported,  // the child's own word: its errors say why
};

std::string_view name_of(Status status);
std::string_view name_of(Reason reason);
// "context exhausted": for people.
std::string to_words(Reason reason);
// The error of a run that was cancelled along with its process: by it one knows it from a person's cancel.
inline constexpr std::string_view kEndedBySigterm = "ended by SIGTERM";

struct Artifact {
  std::string path;
  std::string kind;
  std::string description;
  bool operator==(const Artifact&) const = default;
};

// The code of the error of a run whose end was recorded for it, while what it did may still go on.
inline constexpr std::string_view kForcedEnd = "FORCED";

struct ReportedError {
  std::string type;
  std::string code;
  std::string message;
  bool recoverable = false;
  std::string recommendation;
  bool operator==(const ReportedError&) const = default;
};

// A file's content before and after, by SHA-256; empty where there is no file.
struct FileChange {
  std::string path;  // absolute, without links
  std::string before;
  std::string after;
  bool operator==(const FileChange&) const = default;
};

struct CommandRun {
  std::string command;             // a very long one without its middle
  std::optional<int> exit_status;  // nothing where it was stopped before it came to one
  bool operator==(const CommandRun&) const = default;
};

struct Report {
  Status status = Status::completed;
  Reason reason = Reason::none;
  std::string summary;  // 1–500 characters
  std::string body;
  std::vector<Artifact> artifacts;
  std::vector<ReportedError> errors;
  std::vector<std::string> next_steps;
  // All below is the runtime's own knowledge, never the child's words.
  SessionId session;
  std::string agent;
  std::string label;
  int depth = 0;
  std::vector<std::string> path;
  ModelName model;
  WallTime started_at{};
  Duration duration{};
  Usage usage;
  int steps = 0;
  int questions = 0;
  WorkspaceOutcome workspace;
  std::vector<FileChange> files;     // changed by its tools
  std::vector<CommandRun> commands;  // in the order in which they began
  bool operator==(const Report&) const = default;
};

constexpr std::size_t kSummaryCharacters = 500;

}  // namespace deputy
