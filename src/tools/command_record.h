// What is written down of a command beside it, so that a restart knows how it went: nothing, where it had not
// begun; its end; or that it was in the middle of it.
#pragma once

#include <optional>
#include <string>

#include "base/disk.h"
#include "sandbox/status_record.h"
#include "tools/repositories.h"
#include "transcript/ids.h"

namespace deputy {

// The file beneath deputy's state folder.
std::string command_record(const CallId& call);
inline constexpr std::string_view kCommandRecords = "commands";

// A command that is ended is gone after that.
inline constexpr std::chrono::seconds kGraceOfCommand{10};

// Durable when it returns: a command without one never began. `known`: the repositories that are there before
// it, nothing where it can make none.
Result<void> make_command_record(const Folder& state, const CallId& call,
                                 const std::optional<KnownRepositories>& known);

struct CommandRecord {
  StatusRecord status;
  std::optional<KnownRepositories> known;  // before it began
  WallTime written{};  // its last line: of a command in the middle, that it is about to begin
  bool had_begun() const { return status.confined && !status.unstarted; }
  bool was_in_the_middle() const { return had_begun() && !status.exit_status; }
};
// Nothing: none was made.
Result<std::optional<CommandRecord>> read_command_record(const Folder& state, const CallId& call);

// Files beneath the folder that were written since, by whomever, as a line for the model; empty where none
// was. Git's own and very many others are passed over.
std::string told_of_files_since(const Folder& folder, WallTime since);

}  // namespace deputy
